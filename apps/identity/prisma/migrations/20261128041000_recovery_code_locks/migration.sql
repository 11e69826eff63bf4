-- Recovery codes have a lock of their own, which a password reset ends.
ALTER TABLE identity.two_factors ADD COLUMN recovery_failures integer NOT NULL DEFAULT 0;
ALTER TABLE identity.two_factors ADD COLUMN recovery_locked_until timestamptz(3);
