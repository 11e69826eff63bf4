-- Tags of companies, and the number of live records with each tag.

-- AlterTable
ALTER TABLE "tenant_crm"."companies" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

-- The index of the search also serves the filter by tag, as for contacts.
DROP INDEX tenant_crm.companies_search;
SELECT tenant_crm.index_search('tenant_crm.companies', 'tags');
SELECT tenant_crm.protect('tenant_crm.companies');

-- How many live records of a table have a tag, as the sum over slots; like record_counts.
-- CreateTable
CREATE TABLE "tenant_crm"."tag_counts" (
    "tenant_id" UUID NOT NULL,
    "table_name" TEXT NOT NULL,
    "tag" TEXT NOT NULL,
    "slot" BIGSERIAL NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "tag_counts_pkey" PRIMARY KEY ("tenant_id","table_name","tag","slot")
) WITH (fillfactor = 50);

SELECT tenant_crm.distribute('tenant_crm.tag_counts');

-- add_to_tag_count(...): adds to any slot that no other transaction holds, or to a new one, so that writers never
-- wait for each other. A slot that reaches zero is removed: renamed and deleted tags leave no rows behind.
DO $$
DECLARE
  head text := 'CREATE FUNCTION tenant_crm.add_to_tag_count(
      counted text, tenant uuid, counted_tag text, change bigint
    ) RETURNS void LANGUAGE plpgsql AS ';
BEGIN
  IF tenant_crm.extension_home('citus') IS NULL THEN
    EXECUTE head || quote_literal($body$
DECLARE
  changed_slot bigint;
  changed_count bigint;
BEGIN
  UPDATE tenant_crm.tag_counts SET count = count + change
  WHERE tenant_id = tenant AND table_name = counted AND tag = counted_tag AND slot = (
    SELECT slot FROM tenant_crm.tag_counts
    WHERE tenant_id = tenant AND table_name = counted AND tag = counted_tag
    LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING slot, count INTO changed_slot, changed_count;
  IF changed_slot IS NULL THEN
    INSERT INTO tenant_crm.tag_counts (tenant_id, table_name, tag, count) VALUES (tenant, counted, counted_tag, change);
  ELSIF changed_count = 0 THEN
    DELETE FROM tenant_crm.tag_counts
    WHERE tenant_id = tenant AND table_name = counted AND tag = counted_tag AND slot = changed_slot;
  END IF;
END $body$);
  ELSE
    EXECUTE head || quote_literal($body$
DECLARE
  counts text := tenant_crm.shard_of('tag_counts', tenant);
  changed_slot bigint;
  changed_count bigint;
BEGIN
  EXECUTE format('UPDATE %1$s SET count = count + $4
    WHERE tenant_id = $1 AND table_name = $2 AND tag = $3 AND slot = (
      SELECT slot FROM %1$s WHERE tenant_id = $1 AND table_name = $2 AND tag = $3
      LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING slot, count', counts)
    INTO changed_slot, changed_count USING tenant, counted, counted_tag, change;
  IF changed_slot IS NULL THEN
    -- A shard has no defaults.
    EXECUTE format('INSERT INTO %s (tenant_id, table_name, tag, slot, count)
      VALUES ($1, $2, $3, nextval(''tenant_crm.tag_counts_slot_seq''), $4)', counts)
      USING tenant, counted, counted_tag, change;
  ELSIF changed_count = 0 THEN
    EXECUTE format('DELETE FROM %s WHERE tenant_id = $1 AND table_name = $2 AND tag = $3 AND slot = $4', counts)
      USING tenant, counted, counted_tag, changed_slot;
  END IF;
END $body$);
  END IF;
END $$;

-- keep_tag_counts(table): keeps the number of live rows with each tag of a table that has tags and deleted_at,
-- once for each statement.
CREATE FUNCTION tenant_crm.keep_tag_counts(counted regclass) RETURNS void LANGUAGE plpgsql AS $keep$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = counted);
  trigger_function text := format('tenant_crm.%I', 'count_tags_' || name);
BEGIN
  EXECUTE format($make$
    CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql AS $count$
    BEGIN
      CASE TG_OP
        WHEN 'INSERT' THEN
          PERFORM tenant_crm.add_to_tag_count(%2$L, changed.tenant_id, tag, count(*))
          FROM added AS changed CROSS JOIN LATERAL unnest(changed.tags) AS tag
          WHERE changed.deleted_at IS NULL
          GROUP BY changed.tenant_id, tag;
        WHEN 'UPDATE' THEN
          PERFORM tenant_crm.add_to_tag_count(%2$L, changed.tenant_id, tag, sum(changed.change))
          FROM (
            SELECT tenant_id, tags, 1 AS change FROM added WHERE deleted_at IS NULL
            UNION ALL
            SELECT tenant_id, tags, -1 FROM removed WHERE deleted_at IS NULL
          ) AS changed CROSS JOIN LATERAL unnest(changed.tags) AS tag
          GROUP BY changed.tenant_id, tag HAVING sum(changed.change) <> 0;
        WHEN 'DELETE' THEN
          PERFORM tenant_crm.add_to_tag_count(%2$L, changed.tenant_id, tag, -count(*))
          FROM removed AS changed CROSS JOIN LATERAL unnest(changed.tags) AS tag
          WHERE changed.deleted_at IS NULL
          GROUP BY changed.tenant_id, tag;
        WHEN 'TRUNCATE' THEN
          IF TG_TABLE_NAME = %2$L THEN
            EXECUTE 'DELETE FROM tenant_crm.tag_counts WHERE table_name = $1' USING %2$L;
          END IF;
      END CASE;
      RETURN NULL;
    END $count$
    $make$, trigger_function, name);
  EXECUTE format('CREATE TRIGGER tags_inserted AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  EXECUTE format('CREATE TRIGGER tags_updated AFTER UPDATE ON %s
    REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  EXECUTE format('CREATE TRIGGER tags_deleted AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  EXECUTE format('CREATE TRIGGER tags_truncated AFTER TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  -- From here on nobody else writes to the table until this transaction ends.
  EXECUTE format('INSERT INTO tenant_crm.tag_counts (table_name, tenant_id, tag, count)
    SELECT %L, tenant_id, tag, count(*) FROM %s CROSS JOIN LATERAL unnest(tags) AS tag
    WHERE deleted_at IS NULL GROUP BY tenant_id, tag', name, counted);
END $keep$;

SELECT tenant_crm.keep_tag_counts('tenant_crm.contacts');
SELECT tenant_crm.keep_tag_counts('tenant_crm.companies');
SELECT tenant_crm.protect('tenant_crm.tag_counts');
