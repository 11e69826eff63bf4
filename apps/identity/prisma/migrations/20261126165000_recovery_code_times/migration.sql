-- Null for the codes that exist: they count as older than everything. The default is set afterwards, so that it does not
-- apply to them.
ALTER TABLE identity.recovery_codes ADD COLUMN created_at timestamptz(3);
ALTER TABLE identity.recovery_codes ALTER COLUMN created_at SET DEFAULT CURRENT_TIMESTAMP;
