-- Autovacuum would analyze the largest tables last, after a tenth of their rows has changed.
DO $$
DECLARE
  name text;
BEGIN
  FOR name IN
    SELECT attrelid::regclass FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind = 'r' AND 'n_distinct=50' = ANY (attoptions)
  LOOP
    EXECUTE format('ANALYZE %s (tenant_id)', name);
  END LOOP;
END $$;
