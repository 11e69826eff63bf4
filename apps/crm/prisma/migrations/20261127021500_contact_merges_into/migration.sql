-- The merges into a contact, newest first.
CREATE INDEX CONCURRENTLY contact_merges_into ON tenant_crm.contact_merges (tenant_id, survivor_id, merged_at, id)
  WHERE undone_at IS NULL;
