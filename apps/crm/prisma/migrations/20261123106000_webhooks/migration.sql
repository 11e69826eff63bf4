-- Outgoing webhooks: endpoints, the deliveries of events to them, and the attempts of each delivery.

-- CreateTable
CREATE TABLE "tenant_crm"."webhook_endpoints" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "url" TEXT NOT NULL,
    "description" TEXT,
    "contact_email" TEXT,
    "event_types" TEXT[],
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "is_ordered" BOOLEAN NOT NULL DEFAULT false,
    "disabled_reason" TEXT,
    "failing_since" TIMESTAMPTZ(3),
    "previous_secret_expires_at" TIMESTAMPTZ(3),
    "sealed_secrets" BYTEA NOT NULL,
    "wake_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "webhook_endpoints_disabled_reason_check" CHECK (disabled_reason IN ('failing', 'gone'))
);

SELECT tenant_crm.distribute('tenant_crm.webhook_endpoints');

CREATE INDEX webhook_endpoints_by_creation ON tenant_crm.webhook_endpoints (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_by_change ON tenant_crm.webhook_endpoints (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_by_state ON tenant_crm.webhook_endpoints (tenant_id, is_enabled, created_at, id)
  WHERE deleted_at IS NULL;

SELECT tenant_crm.protect('tenant_crm.webhook_endpoints');

-- CreateTable
CREATE TABLE "tenant_crm"."webhook_deliveries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endpoint_id" UUID NOT NULL,
    "event_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "record_id" UUID,
    "sequence" BIGINT NOT NULL DEFAULT 0,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "last_attempt_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "error" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "round" INTEGER NOT NULL DEFAULT 0,
    "payload" TEXT NOT NULL,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "webhook_deliveries_state_check" CHECK (state IN ('pending', 'sending', 'succeeded', 'failed'))
);

SELECT tenant_crm.distribute('tenant_crm.webhook_deliveries');

-- An event is delivered once to each endpoint, also if its outbox row is read again.
CREATE UNIQUE INDEX webhook_deliveries_endpoint_id_event_id_key
  ON tenant_crm.webhook_deliveries (tenant_id, endpoint_id, event_id);
CREATE INDEX webhook_deliveries_by_creation ON tenant_crm.webhook_deliveries (tenant_id, created_at, id);
CREATE INDEX webhook_deliveries_by_endpoint
  ON tenant_crm.webhook_deliveries (tenant_id, endpoint_id, created_at, id);
CREATE INDEX webhook_deliveries_by_state ON tenant_crm.webhook_deliveries (tenant_id, state, created_at, id);
CREATE INDEX webhook_deliveries_by_type
  ON tenant_crm.webhook_deliveries (tenant_id, event_type, created_at, id);
CREATE INDEX webhook_deliveries_by_record ON tenant_crm.webhook_deliveries (tenant_id, record_id, created_at, id);
-- What is to be sent next.
CREATE INDEX webhook_deliveries_due
  ON tenant_crm.webhook_deliveries (tenant_id, endpoint_id, next_attempt_at, id)
  WHERE state IN ('pending', 'sending');
-- What later events of the same record wait for.
CREATE INDEX webhook_deliveries_unfinished
  ON tenant_crm.webhook_deliveries (tenant_id, endpoint_id, record_id, sequence)
  WHERE state IN ('pending', 'sending');
-- Of all tenants: the oldest deliveries, and those that should have been sent.
CREATE INDEX webhook_deliveries_by_age ON tenant_crm.webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_overdue ON tenant_crm.webhook_deliveries (next_attempt_at)
  WHERE state IN ('pending', 'sending');
CREATE INDEX webhook_deliveries_oldest ON tenant_crm.webhook_deliveries (created_at)
  WHERE state IN ('pending', 'sending');

SELECT tenant_crm.keep_count('tenant_crm.webhook_deliveries');
SELECT tenant_crm.refer('tenant_crm.webhook_deliveries', 'endpoint_id', 'tenant_crm.webhook_endpoints');
SELECT tenant_crm.protect('tenant_crm.webhook_deliveries');

-- CreateTable
CREATE TABLE "tenant_crm"."webhook_attempts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivery_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "url" TEXT NOT NULL,
    "request_headers" JSONB NOT NULL,
    "response_status" INTEGER,
    "response_headers" JSONB,
    "response_body" TEXT,
    "duration_ms" INTEGER NOT NULL,
    "error" TEXT,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.webhook_attempts');

CREATE INDEX webhook_attempts_by_number ON tenant_crm.webhook_attempts (tenant_id, delivery_id, number, id);

SELECT tenant_crm.refer('tenant_crm.webhook_attempts', 'delivery_id', 'tenant_crm.webhook_deliveries');
SELECT tenant_crm.protect('tenant_crm.webhook_attempts');

-- The following run as their owner, because row-level security shows no row without a tenant. With a tenant, they
-- see nothing.

-- Deletes up to `most` deliveries of all tenants that ended and are older than 30 days, with their attempts.
CREATE FUNCTION tenant_crm.delete_expired_webhook_deliveries(most integer) RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH expired AS MATERIALIZED (
    SELECT tenant_id, id FROM tenant_crm.webhook_deliveries
    WHERE created_at < now() - interval '30 days' AND state IN ('succeeded', 'failed')
      AND updated_at < now() - interval '30 days' AND tenant_crm.current_tenant() IS NULL
    ORDER BY created_at LIMIT most
  ), attempts AS (
    DELETE FROM tenant_crm.webhook_attempts USING expired
    WHERE webhook_attempts.tenant_id = expired.tenant_id AND delivery_id = expired.id
  ), deleted AS (
    DELETE FROM tenant_crm.webhook_deliveries USING expired
    WHERE webhook_deliveries.tenant_id = expired.tenant_id AND webhook_deliveries.id = expired.id
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

-- Endpoints with deliveries that should have been sent minutes ago: their job was lost.
CREATE FUNCTION tenant_crm.overdue_webhook_endpoints(most integer) RETURNS TABLE (tenant_id uuid, endpoint_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT tenant_id, endpoint_id FROM (
    SELECT tenant_id, endpoint_id FROM tenant_crm.webhook_deliveries
    WHERE state IN ('pending', 'sending') AND next_attempt_at < now() - interval '10 minutes'
      AND tenant_crm.current_tenant() IS NULL
    ORDER BY next_attempt_at LIMIT most
  ) AS overdue
$$;

-- The age in seconds of the oldest delivery that has not ended, of all tenants; 0 if there is none.
CREATE FUNCTION tenant_crm.oldest_webhook_delivery() RETURNS double precision
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::double precision
  FROM tenant_crm.webhook_deliveries
  WHERE state IN ('pending', 'sending') AND tenant_crm.current_tenant() IS NULL
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.delete_expired_webhook_deliveries(integer),
  tenant_crm.overdue_webhook_endpoints(integer), tenant_crm.oldest_webhook_delivery() FROM PUBLIC;
