-- An import looks up thousands of addresses, and each lookup reads the whole pending list of the index. Without a pending list,
-- a contact with further addresses takes little more time to write: it has few of them. The index is locked for a moment.
ALTER INDEX tenant_crm.contacts_by_further_email SET (fastupdate = off);
