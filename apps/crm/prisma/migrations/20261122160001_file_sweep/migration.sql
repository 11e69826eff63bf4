-- The comparison of the file store with the tables.

-- AlterTable
ALTER TABLE "tenant_crm"."file_contents" ADD COLUMN "missing_since" TIMESTAMPTZ(3);

-- The order of the paths of objects, in which the store lists them.
CREATE INDEX file_contents_by_path ON tenant_crm.file_contents
  (tenant_id, (right(object_id::text, 2) COLLATE "C"), object_id);
CREATE INDEX file_contents_missing ON tenant_crm.file_contents (tenant_id, missing_since)
  WHERE missing_since IS NOT NULL;
SELECT tenant_crm.protect('tenant_crm.file_contents');

-- The contents of all tenants after a path, in the order of paths. Runs as its owner, because row-level security shows
-- no row without a tenant.
CREATE FUNCTION tenant_crm.contents_by_path(after_tenant uuid, after_shard text, after_object uuid, most integer)
RETURNS TABLE (tenant_id uuid, id uuid, object_id uuid, size bigint, is_sealed boolean, is_missing boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id, object_id, size, sealed_key IS NOT NULL, missing_since IS NOT NULL
  FROM tenant_crm.file_contents
  WHERE tenant_crm.current_tenant() IS NULL
    AND (tenant_id, right(object_id::text, 2) COLLATE "C", object_id) > (after_tenant, after_shard COLLATE "C", after_object)
  ORDER BY tenant_id, right(object_id::text, 2) COLLATE "C", object_id
  LIMIT most
$$;

-- Objects of all tenants that were to be deleted hours ago, after an id.
CREATE FUNCTION tenant_crm.overdue_files(after_tenant uuid, after_id uuid, most integer)
RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id FROM tenant_crm.pending_files
  WHERE tenant_crm.current_tenant() IS NULL AND (tenant_id, id) > (after_tenant, after_id)
    AND expires_at < now() - interval '6 hours'
  ORDER BY tenant_id, id LIMIT most
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.contents_by_path(uuid, text, uuid, integer),
  tenant_crm.overdue_files(uuid, uuid, integer) FROM PUBLIC;

DO $$ BEGIN
  PERFORM tenant_crm.prepare_tenant_role();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'The role tessera_tenant cannot be prepared: %', SQLERRM;
END $$;
