-- Plans that are made once for all tenants must suit the largest one. The planner expects a tenant to have as many rows as
-- the average: with many small tenants those are few, so reading all rows of a tenant seems as cheap as looking up some of
-- them by their ids. With this number, it expects a fiftieth of each table. Takes effect with the next ANALYZE.
-- Citus does not support it for distributed tables.
DO $$
DECLARE
  name text;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    RETURN;
  END IF;
  FOR name IN
    SELECT attrelid::regclass FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind IN ('r', 'p') AND attname = 'tenant_id'
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN tenant_id SET (n_distinct = 50)', name);
  END LOOP;
END $$;
