-- The comments of deleted articles are not moderated.
CREATE INDEX CONCURRENTLY kb_articles_deleted ON tenant_crm.kb_articles (tenant_id, id)
  WHERE deleted_at IS NOT NULL;
