-- Revisions of articles, posts and pages: the changes of what readers see. Their texts are in the history already, which
-- has the value before and after of every changed field. This index has only those changes. Its first columns list and
-- count the revisions of a record; the others find the next change of one field without reading the texts of the
-- changes between.
CREATE INDEX record_changes_revisions ON tenant_crm.record_changes (
  tenant_id, table_name, record_id, version,
  jsonb_exists(changes, 'title'), jsonb_exists(changes, 'slug'), jsonb_exists(changes, 'summary'),
  jsonb_exists(changes, 'body'), jsonb_exists(changes, 'tags')
) WHERE table_name IN ('kb_articles', 'blog_posts', 'pages')
  AND jsonb_exists_any(changes, '{title,slug,summary,body,tags}');
