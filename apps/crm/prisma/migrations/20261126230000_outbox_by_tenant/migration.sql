-- The tenants for which events wait, and the first events of each: the readers of the outbox give tenants turns.
CREATE INDEX CONCURRENTLY outbox_by_tenant ON tenant_crm.outbox (sink, tenant_id, position)
  WHERE failed_at IS NULL;
