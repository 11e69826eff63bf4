-- What files of imports and their failed rows take is part of a tenant's storage usage. Imports are cancelled when their
-- sender may no longer change records, and failed rows are deleted after 30 days.

SELECT tenant_crm.keep_count('tenant_crm.import_chunks');
SELECT tenant_crm.keep_count('tenant_crm.import_failures');

CREATE INDEX imports_unfinished ON tenant_crm.imports (status) WHERE status IN ('uploading', 'pending', 'running');
CREATE INDEX imports_by_end ON tenant_crm.imports (finished_at) WHERE finished_at IS NOT NULL;

CREATE FUNCTION tenant_crm.unfinished_imports() RETURNS TABLE (tenant_id uuid, id uuid, principal jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id, principal FROM tenant_crm.imports
  WHERE status IN ('uploading', 'pending', 'running') AND tenant_crm.current_tenant() IS NULL
$$;

-- The imports whose failed rows are to be deleted next.
CREATE FUNCTION tenant_crm.imports_with_expired_failures(most integer) RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id FROM tenant_crm.imports
  WHERE finished_at < now() - interval '30 days' AND tenant_crm.current_tenant() IS NULL
    AND EXISTS (
      SELECT FROM tenant_crm.import_failures
      WHERE import_failures.tenant_id = imports.tenant_id AND import_failures.import_id = imports.id
    )
  LIMIT most
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.unfinished_imports(), tenant_crm.imports_with_expired_failures(integer)
  FROM PUBLIC;

-- As before, and grants every function that runs as its owner.
CREATE OR REPLACE FUNCTION tenant_crm.prepare_tenant_role() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  missing regclass;
  called regprocedure;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_tenant') THEN
    BEGIN
      CREATE ROLE tessera_tenant NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- Somebody else has, in another database of this server.
    END;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('tenant_crm.prepare_tenant_role'));
  IF NOT pg_has_role('tessera_tenant', 'USAGE') THEN
    GRANT tessera_tenant TO CURRENT_USER;
  END IF;
  IF NOT has_schema_privilege('tessera_tenant', 'tenant_crm', 'USAGE') THEN
    GRANT USAGE ON SCHEMA tenant_crm, tenant_rows TO tessera_tenant;
  END IF;
  FOR missing IN
    SELECT seqrelid FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
    WHERE relnamespace = 'tenant_crm'::regnamespace
      AND NOT has_sequence_privilege('tessera_tenant', seqrelid, 'USAGE')
  LOOP
    EXECUTE format('GRANT USAGE ON SEQUENCE %s TO tessera_tenant', missing);
  END LOOP;
  FOR missing IN
    SELECT oid FROM pg_class WHERE relnamespace = 'tenant_crm'::regnamespace AND relrowsecurity
      AND NOT has_table_privilege('tessera_tenant', oid, 'INSERT')
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO tessera_tenant', missing);
  END LOOP;
  FOR missing IN
    SELECT oid FROM pg_class WHERE relnamespace = 'tenant_rows'::regnamespace AND relkind = 'v'
      AND NOT has_table_privilege('tessera_tenant', oid, 'SELECT')
  LOOP
    EXECUTE format('GRANT SELECT ON %s TO tessera_tenant', missing);
  END LOOP;
  FOR called IN
    SELECT oid FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace AND prosecdef
      AND NOT has_function_privilege('tessera_tenant', oid, 'EXECUTE')
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tessera_tenant', called);
  END LOOP;
END $$;

DO $$ BEGIN
  PERFORM tenant_crm.prepare_tenant_role();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'The role tessera_tenant cannot be prepared: %', SQLERRM;
END $$;
