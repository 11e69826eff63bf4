-- The tags of documents are found by their kept counts, too, which know how each tag is written. It is a migration of its own, so
-- that nobody waits for the table of the counts while the documents are counted.
SELECT tenant_crm.keep_tag_counts('tenant_crm.documents');
