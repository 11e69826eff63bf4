-- What was to be deleted for good hours ago, of all tenants, after an id: its job is dead. The functions run as their owner,
-- because row-level security shows no row without a tenant.

-- Uploads that have expired.
CREATE FUNCTION tenant_crm.overdue_uploads(after_tenant uuid, after_id uuid, most integer)
RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id FROM tenant_crm.uploads
  WHERE tenant_crm.current_tenant() IS NULL AND (tenant_id, id) > (after_tenant, after_id)
    AND expires_at < now() - interval '6 hours'
  ORDER BY tenant_id, id LIMIT most
$$;

-- Documents that have been in the trash for 30 days. It reads the index documents_in_trash.
CREATE FUNCTION tenant_crm.overdue_documents(after_tenant uuid, after_id uuid, most integer)
RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id FROM tenant_crm.documents
  WHERE tenant_crm.current_tenant() IS NULL AND (tenant_id, id) > (after_tenant, after_id)
    AND deleted_at IS NOT NULL AND deleted_with IS NULL AND deleted_at < now() - interval '726 hours'
  ORDER BY tenant_id, id LIMIT most
$$;

-- The same for folders, with which their job deletes what they contain. It reads the index document_folders_in_trash.
CREATE FUNCTION tenant_crm.overdue_folders(after_tenant uuid, after_id uuid, most integer)
RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id FROM tenant_crm.document_folders
  WHERE tenant_crm.current_tenant() IS NULL AND (tenant_id, id) > (after_tenant, after_id)
    AND deleted_at IS NOT NULL AND deleted_with IS NULL AND deleted_at < now() - interval '726 hours'
  ORDER BY tenant_id, id LIMIT most
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.overdue_uploads(uuid, uuid, integer),
  tenant_crm.overdue_documents(uuid, uuid, integer), tenant_crm.overdue_folders(uuid, uuid, integer) FROM PUBLIC;
