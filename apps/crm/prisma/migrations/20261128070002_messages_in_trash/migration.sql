-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY messages_in_trash ON tenant_crm.messages (tenant_id, channel_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
