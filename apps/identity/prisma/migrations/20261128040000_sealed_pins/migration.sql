-- The hashes of PINs are sealed. The previous release reads only `hash`: a row keeps it until its PIN is changed by this
-- release, or `identity-admin reseal` runs.
ALTER TABLE identity.pins ADD COLUMN sealed_hash bytea;
ALTER TABLE identity.pins ALTER COLUMN hash SET DEFAULT '';
