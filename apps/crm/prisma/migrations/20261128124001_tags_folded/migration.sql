-- Existing tags get what searches compare, in batches, each a transaction of its own. Rows that a change of a record holds are
-- left for the next batch, so that no change waits. It can be repeated at any time.
DO $$
DECLARE
  tenant uuid;
BEGIN
  FOR tenant IN SELECT DISTINCT tenant_id FROM tenant_crm.tag_counts WHERE search_key IS NULL LOOP
    LOOP
      UPDATE tenant_crm.tag_counts SET search_key = tenant_crm.search_key(tag)
      WHERE tenant_id = tenant AND (table_name, tag, slot) IN (
        SELECT table_name, tag, slot FROM tenant_crm.tag_counts
        WHERE tenant_id = tenant AND search_key IS NULL
        LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED
      );
      EXIT WHEN NOT FOUND;
      COMMIT;
    END LOOP;
  END LOOP;
END $$;
