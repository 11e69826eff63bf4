-- The responses to requests with an Idempotency-Key, written in the transaction of the request's change.

CREATE TABLE tenant_crm.idempotency_keys (
  tenant_id uuid NOT NULL,
  -- The type and id of the caller, so that keys of different callers do not meet.
  caller text NOT NULL,
  key text NOT NULL,
  -- SHA-256 of the request.
  fingerprint bytea NOT NULL,
  status integer NOT NULL,
  headers jsonb NOT NULL,
  -- json keeps the order of members; null without a body.
  body json,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, caller, key)
);
SELECT tenant_crm.distribute('tenant_crm.idempotency_keys');
-- For the deletion of expired ones.
CREATE INDEX idempotency_keys_by_expiry ON tenant_crm.idempotency_keys (expires_at);
SELECT tenant_crm.protect('tenant_crm.idempotency_keys');
