-- Row-level security: a second lock behind the tenant conditions of the statements themselves. The service
-- runs the statements of a tenant as the role tessera_tenant, with the tenant in the setting
-- tessera.tenant_id. Migrations, bulk loads, and crm-admin run as the owner of the tables, which no policy
-- concerns: therefore no FORCE.

-- The tenant whose statement this is; null without one. A setting that was local to a transaction is
-- empty afterwards, not null.
CREATE FUNCTION tenant_crm.current_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('tessera.tenant_id', true), '')::uuid;

-- Views of the protected tables, with the names of the tables: the current tenant's rows, for reading.
-- A policy is a security barrier: LIKE and the operators of arrays cannot use an index behind one. These
-- views are none, and read as their owner.
CREATE SCHEMA tenant_rows;

-- Creates the role where there is none, and lets it work on every protected table. Fails where the current
-- user may not create roles, or may not act as this one.
CREATE FUNCTION tenant_crm.prepare_tenant_role() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  protected regclass;
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
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA tenant_crm TO tessera_tenant;
  FOR protected IN
    SELECT oid FROM pg_class WHERE relnamespace = 'tenant_crm'::regnamespace AND relrowsecurity
      AND NOT has_table_privilege('tessera_tenant', oid, 'INSERT')
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO tessera_tenant', protected);
  END LOOP;
  FOR protected IN
    SELECT oid FROM pg_class WHERE relnamespace = 'tenant_rows'::regnamespace AND relkind = 'v'
      AND NOT has_table_privilege('tessera_tenant', oid, 'SELECT')
  LOOP
    EXECUTE format('GRANT SELECT ON %s TO tessera_tenant', protected);
  END LOOP;
END $$;

-- Shows and changes only rows of the current tenant to tessera_tenant. To be called again after a change
-- of the table's columns, for its view (DROP VIEW comes first where a column changes its type or goes).
CREATE FUNCTION tenant_crm.protect(guarded regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = guarded);
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', guarded);
  EXECUTE format('DROP POLICY IF EXISTS tenant ON %s', guarded);
  EXECUTE format('CREATE POLICY tenant ON %s USING (tenant_id = tenant_crm.current_tenant())', guarded);
  EXECUTE format('DROP VIEW IF EXISTS tenant_rows.%I', name);
  EXECUTE format('CREATE VIEW tenant_rows.%I AS
    SELECT * FROM %s WHERE tenant_id = tenant_crm.current_tenant()', name, guarded);
  BEGIN
    PERFORM tenant_crm.prepare_tenant_role();
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'The role tessera_tenant cannot be prepared: %', SQLERRM;
  END;
END $$;

SELECT tenant_crm.protect('tenant_crm.contacts');
SELECT tenant_crm.protect('tenant_crm.companies');
SELECT tenant_crm.protect('tenant_crm.messaging_accounts');
SELECT tenant_crm.protect('tenant_crm.record_counts');
