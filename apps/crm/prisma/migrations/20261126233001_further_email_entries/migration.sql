-- The previous migration keeps the index from having a pending list; this one moves present entries from the list to the index,
-- without blocking anybody. With Citus, autovacuum does it on each server.
SELECT gin_clean_pending_list('tenant_crm.contacts_by_further_email');
