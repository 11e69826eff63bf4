-- How many contents of all tenants have no intact object, for the metrics of every replica. Runs as its owner, because
-- row-level security shows no row without a tenant.
CREATE FUNCTION tenant_crm.missing_files() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FROM tenant_crm.file_contents
  WHERE missing_since IS NOT NULL AND tenant_crm.current_tenant() IS NULL
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.missing_files() FROM PUBLIC;
