-- An event that its sink refuses for good is set aside, so that it does not delay the others.

-- The view for tenants has all columns of its table.
DROP VIEW tenant_rows.outbox;

-- AlterTable
ALTER TABLE "tenant_crm"."outbox"
  ADD COLUMN "failed_at" TIMESTAMPTZ(3),
  ADD COLUMN "error" TEXT;

SELECT tenant_crm.protect('tenant_crm.outbox');

DROP INDEX tenant_crm.outbox_by_sink;
CREATE INDEX outbox_by_sink ON tenant_crm.outbox (sink, position) WHERE failed_at IS NULL;
CREATE INDEX outbox_set_aside ON tenant_crm.outbox (sink, position) WHERE failed_at IS NOT NULL;

-- As before, these run as their owner, and see nothing with a tenant.
CREATE OR REPLACE FUNCTION tenant_crm.first_in_outbox(of_sink text, most integer) RETURNS SETOF tenant_crm.outbox
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM tenant_crm.outbox
  WHERE sink = of_sink AND failed_at IS NULL AND tenant_crm.current_tenant() IS NULL
  ORDER BY position LIMIT most
$$;

CREATE OR REPLACE FUNCTION tenant_crm.outbox_backlog() RETURNS TABLE (sink text, pending bigint, oldest timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT sink, count(*), min(occurred_at) FROM tenant_crm.outbox
  WHERE failed_at IS NULL AND tenant_crm.current_tenant() IS NULL GROUP BY sink
$$;

CREATE FUNCTION tenant_crm.set_aside_in_outbox(of_sink text, of_position bigint, reason text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE tenant_crm.outbox SET failed_at = now(), error = reason
  WHERE sink = of_sink AND position = of_position AND tenant_crm.current_tenant() IS NULL
$$;

CREATE FUNCTION tenant_crm.outbox_set_aside() RETURNS TABLE (sink text, events bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT sink, count(*) FROM tenant_crm.outbox
  WHERE failed_at IS NOT NULL AND tenant_crm.current_tenant() IS NULL GROUP BY sink
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.set_aside_in_outbox(text, bigint, text), tenant_crm.outbox_set_aside()
  FROM PUBLIC;
