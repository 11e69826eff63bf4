-- Whoever manages a tenant names an invitation by its id; a digest of the secret does not belong in an address. The default
-- is for the links that exist, and for those of the previous release.
--
-- The table is small: links are deleted a day after they expire.
-- squawk-ignore adding-field-with-default
ALTER TABLE identity.one_time_tokens ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid();
