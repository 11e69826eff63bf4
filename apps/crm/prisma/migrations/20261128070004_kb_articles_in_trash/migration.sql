-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY kb_articles_in_trash ON tenant_crm.kb_articles (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
