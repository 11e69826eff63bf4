-- Folds the stored texts with letters that the previous migration folds in another way. In batches, each a transaction of its own.
-- Only few texts change; it can be repeated at any time.
DO $$
DECLARE
  folding record;
  tenant uuid;
  first uuid;
  last uuid;
BEGIN
  FOR folding IN
    -- A generated column is computed again when a column that it is made from is set.
    SELECT generated.attrelid::regclass AS name, 'search_text <> tenant_crm.search_key(search_text)' AS differs,
      string_agg(format('%1$I = %1$I', source.attname), ', ') AS settings
    FROM pg_attribute AS generated
    JOIN pg_attrdef AS made ON (made.adrelid, made.adnum) = (generated.attrelid, generated.attnum)
    JOIN pg_depend AS uses ON (uses.classid, uses.objid) = ('pg_attrdef'::regclass, made.oid)
      AND (uses.refclassid, uses.refobjid) = ('pg_class'::regclass, generated.attrelid)
      AND uses.refobjsubid <> generated.attnum
    JOIN pg_attribute AS source ON (source.attrelid, source.attnum) = (uses.refobjid, uses.refobjsubid)
    JOIN pg_class AS rows ON rows.oid = generated.attrelid
    WHERE generated.attname = 'search_text' AND generated.attgenerated = 's' AND NOT rows.relispartition
      AND rows.relnamespace = 'tenant_crm'::regnamespace
    GROUP BY generated.attrelid
    UNION ALL SELECT 'tenant_crm.file_contents'::regclass,
      'words <> tenant_crm.word_vector(tsvector_to_array(words))',
      'words = tenant_crm.word_vector(tsvector_to_array(words))'
  LOOP
    FOR tenant IN EXECUTE format('SELECT DISTINCT tenant_id FROM %s', folding.name) LOOP
      first := '00000000-0000-0000-0000-000000000000';
      LOOP
        EXECUTE format('SELECT id FROM %s WHERE tenant_id = $1 AND id > $2 ORDER BY id OFFSET 4999 LIMIT 1', folding.name)
        INTO last USING tenant, first;
        EXECUTE format(
          'UPDATE %s SET %s WHERE tenant_id = $1 AND id > $2 AND ($3 IS NULL OR id <= $3) AND %s',
          folding.name, folding.settings, folding.differs
        ) USING tenant, first, last;
        COMMIT;
        EXIT WHEN last IS NULL;
        first := last;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
