-- How a tag is written in a tenant.
CREATE INDEX CONCURRENTLY tag_counts_by_key ON tenant_crm.tag_counts (tenant_id, table_name, tag_key);
