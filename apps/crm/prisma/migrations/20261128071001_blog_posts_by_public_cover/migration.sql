-- Changes of a document look for what it is the public cover of.
CREATE INDEX CONCURRENTLY blog_posts_by_public_cover ON tenant_crm.blog_posts (tenant_id, cover_document_id)
  WHERE cover_document_id IS NOT NULL AND deleted_at IS NULL AND status IN ('published', 'scheduled');
