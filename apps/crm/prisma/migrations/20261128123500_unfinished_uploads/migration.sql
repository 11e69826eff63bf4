-- Unfinished uploads are counted before another one begins. Finished ones stay for a day, and there may be many.
CREATE INDEX CONCURRENTLY uploads_unfinished ON tenant_crm.uploads (tenant_id, owner) WHERE ended_at IS NULL;
