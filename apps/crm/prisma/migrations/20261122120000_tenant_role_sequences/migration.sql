-- prepare_tenant_role() grants only what the role lacks, sequences included: a user that does not own the objects
-- may not grant anything, and has nothing to grant where the owner did.
CREATE OR REPLACE FUNCTION tenant_crm.prepare_tenant_role() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  missing regclass;
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
END $$;
