-- The deleted messages of a channel, which are not unread.
CREATE INDEX CONCURRENTLY messages_deleted ON tenant_crm.messages (tenant_id, channel_id, position)
  WHERE deleted_at IS NOT NULL;
