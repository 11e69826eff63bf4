-- The requests of an endpoint that are in progress: without it, counting them reads every delivery that waits for a retry.
CREATE INDEX webhook_deliveries_sending ON tenant_crm.webhook_deliveries (tenant_id, endpoint_id, next_attempt_at)
  WHERE state = 'sending';

-- Endpoints whose job was lost: none is enqueued, and deliveries should have been sent minutes ago. The limit counts
-- endpoints, so that one with many deliveries does not hide the others.
CREATE OR REPLACE FUNCTION tenant_crm.overdue_webhook_endpoints(most integer)
RETURNS TABLE (tenant_id uuid, endpoint_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT endpoint.tenant_id, endpoint.id FROM tenant_crm.webhook_endpoints AS endpoint
  WHERE endpoint.is_enabled AND endpoint.deleted_at IS NULL AND tenant_crm.current_tenant() IS NULL
    AND (endpoint.wake_at IS NULL OR endpoint.wake_at < now() - interval '10 minutes')
    AND EXISTS (
      SELECT FROM tenant_crm.webhook_deliveries AS delivery
      WHERE delivery.tenant_id = endpoint.tenant_id AND delivery.endpoint_id = endpoint.id
        AND delivery.state IN ('pending', 'sending') AND delivery.next_attempt_at < now() - interval '10 minutes')
  ORDER BY endpoint.wake_at NULLS FIRST, endpoint.id LIMIT most
$$;

DROP INDEX tenant_crm.webhook_deliveries_overdue;
