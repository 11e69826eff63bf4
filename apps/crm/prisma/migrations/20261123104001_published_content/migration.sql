-- Published content in the order in which everybody reads it.
CREATE INDEX kb_articles_published ON tenant_crm.kb_articles (tenant_id, language, published_at, id)
  WHERE deleted_at IS NULL AND status = 'published';
CREATE INDEX blog_posts_published ON tenant_crm.blog_posts (tenant_id, language, published_at, id)
  WHERE deleted_at IS NULL AND status = 'published';
CREATE INDEX pages_published ON tenant_crm.pages (tenant_id, language, published_at, id)
  WHERE deleted_at IS NULL AND status = 'published';
