-- The imports that a person, a client or a token has sent and that have not ended, after one of them and at most so many.
-- It reads the index imports_unfinished: a tenant has few imports that have not ended.
CREATE FUNCTION tenant_crm.unfinished_imports_of(sender text, after_tenant uuid, after_import uuid, most integer)
RETURNS TABLE (tenant_id uuid, id uuid, principal jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, id, principal FROM tenant_crm.imports
  WHERE status IN ('uploading', 'pending', 'running') AND tenant_crm.current_tenant() IS NULL
    AND (principal ->> 'id' = sender OR principal ->> 'impersonator_id' = sender OR principal ->> 'token_id' = sender)
    AND (tenant_id, id) > (after_tenant, after_import)
  ORDER BY tenant_id, id LIMIT most
$$;
REVOKE EXECUTE ON FUNCTION tenant_crm.unfinished_imports_of(text, uuid, uuid, integer) FROM PUBLIC;

-- Both returned the rows of all tenants without a limit. No release has called them.
DROP FUNCTION tenant_crm.unfinished_imports();
DROP FUNCTION tenant_crm.waiting_publications();
