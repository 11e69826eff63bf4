-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY blog_posts_in_trash ON tenant_crm.blog_posts (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
