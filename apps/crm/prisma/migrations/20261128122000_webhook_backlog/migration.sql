-- An endpoint for which too many deliveries wait is disabled, and counts the events that it misses until it is enabled again.
ALTER TABLE tenant_crm.webhook_endpoints
  ADD COLUMN missed_events BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN missed_since TIMESTAMPTZ(3),
  DROP CONSTRAINT webhook_endpoints_disabled_reason_check,
  -- The former constraint was stricter, so that every row satisfies this one.
  ADD CONSTRAINT webhook_endpoints_disabled_reason_check CHECK (disabled_reason IN ('failing', 'gone', 'backlog')) NOT VALID;

-- The view has all columns of its table.
SELECT tenant_crm.protect('tenant_crm.webhook_endpoints');
