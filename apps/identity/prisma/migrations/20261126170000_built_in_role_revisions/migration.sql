-- Null for a tenant's own roles, and for built-in ones that no release with revisions has written.
ALTER TABLE identity.roles ADD COLUMN revision integer;
