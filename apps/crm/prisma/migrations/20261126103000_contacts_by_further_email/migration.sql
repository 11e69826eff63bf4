-- Imports find contacts by their further addresses. Without the tenant, for which GIN needs an extension: few contacts
-- of all tenants share an address.
CREATE INDEX CONCURRENTLY contacts_by_further_email ON tenant_crm.contacts USING gin (emails jsonb_path_ops)
  WHERE deleted_at IS NULL AND emails <> '[]';
