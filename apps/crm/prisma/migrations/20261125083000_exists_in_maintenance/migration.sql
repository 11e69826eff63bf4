-- These functions ask for the tenant before the statement. Beside a condition that refers to no column, PostgreSQL does not
-- report a semi-join to extensions, and Citus then executes EXISTS as a join: it returned an endpoint once for each delivery.

CREATE OR REPLACE FUNCTION tenant_crm.overdue_webhook_endpoints(most integer)
RETURNS TABLE (tenant_id uuid, endpoint_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF tenant_crm.current_tenant() IS NULL THEN
    RETURN QUERY SELECT endpoint.tenant_id, endpoint.id FROM tenant_crm.webhook_endpoints AS endpoint
      WHERE endpoint.is_enabled AND endpoint.deleted_at IS NULL
        AND (endpoint.wake_at IS NULL OR endpoint.wake_at < now() - interval '10 minutes')
        AND EXISTS (
          SELECT FROM tenant_crm.webhook_deliveries AS delivery
          WHERE delivery.tenant_id = endpoint.tenant_id AND delivery.endpoint_id = endpoint.id
            AND delivery.state IN ('pending', 'sending') AND delivery.next_attempt_at < now() - interval '10 minutes')
      ORDER BY endpoint.wake_at NULLS FIRST, endpoint.id LIMIT most;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION tenant_crm.imports_with_expired_failures(most integer)
RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF tenant_crm.current_tenant() IS NULL THEN
    RETURN QUERY SELECT import.tenant_id, import.id FROM tenant_crm.imports AS import
      WHERE import.finished_at < now() - interval '30 days'
        AND EXISTS (
          SELECT FROM tenant_crm.import_failures AS failure
          WHERE failure.tenant_id = import.tenant_id AND failure.import_id = import.id)
      LIMIT most;
  END IF;
END $$;
