-- What the service does for all tenants at once. Its database user need not own the tables, and the policies then
-- show it no row without a tenant: these functions run as their owner, and do nothing else than what they are for.
-- With a tenant, as in the statements of a request, they see nothing: its statements concern no other tenant.

CREATE FUNCTION tenant_crm.delete_expired_idempotency_keys() RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH deleted AS (
    DELETE FROM tenant_crm.idempotency_keys
    WHERE expires_at <= now() AND tenant_crm.current_tenant() IS NULL
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

-- The deleted custom fields whose values are to be removed next.
CREATE FUNCTION tenant_crm.deleted_custom_fields(most integer) RETURNS TABLE (tenant_id uuid, key text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, key FROM tenant_crm.custom_fields
  WHERE deleted_at IS NOT NULL AND tenant_crm.current_tenant() IS NULL
  ORDER BY deleted_at LIMIT most
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.delete_expired_idempotency_keys(), tenant_crm.deleted_custom_fields(integer)
  FROM PUBLIC;

-- As before, and grants these functions: the service's user is a member of the role.
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
    SELECT oid FROM pg_proc WHERE oid IN (
        'tenant_crm.delete_expired_idempotency_keys()'::regprocedure,
        'tenant_crm.deleted_custom_fields(integer)'::regprocedure
      ) AND NOT has_function_privilege('tessera_tenant', oid, 'EXECUTE')
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tessera_tenant', called);
  END LOOP;
END $$;

DO $$ BEGIN
  PERFORM tenant_crm.prepare_tenant_role();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'The role tessera_tenant cannot be prepared: %', SQLERRM;
END $$;
