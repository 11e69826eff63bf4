-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY kb_article_comments_in_trash ON tenant_crm.kb_article_comments (tenant_id, article_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
