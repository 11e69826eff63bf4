-- Lists ordered by language; the new indexes also serve what the former ones did.
CREATE INDEX kb_articles_ordered_by_language ON tenant_crm.kb_articles (tenant_id, language, id)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_ordered_by_language ON tenant_crm.blog_posts (tenant_id, language, id)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_ordered_by_language ON tenant_crm.pages (tenant_id, language, id)
  WHERE deleted_at IS NULL;
DROP INDEX tenant_crm.kb_articles_by_language;
DROP INDEX tenant_crm.blog_posts_by_language;
DROP INDEX tenant_crm.pages_by_language;
