-- An endpoint whose next job is noted in later_wakes for the next minutes is not overdue: those of suspended tenants are put
-- off by 15 minutes each time. A job for a later time counts as none, so that the loss of an earlier one is noticed. The
-- array is sorted, and its first element passes when its job is late.
CREATE OR REPLACE FUNCTION tenant_crm.overdue_webhook_endpoints(most integer)
RETURNS TABLE (tenant_id uuid, endpoint_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF tenant_crm.current_tenant() IS NULL THEN
    RETURN QUERY SELECT endpoint.tenant_id, endpoint.id FROM tenant_crm.webhook_endpoints AS endpoint
      WHERE endpoint.is_enabled AND endpoint.deleted_at IS NULL
        AND (endpoint.wake_at IS NULL OR endpoint.wake_at < now() - interval '10 minutes')
        AND (endpoint.later_wakes[1] BETWEEN now() - interval '10 minutes' AND now() + interval '20 minutes') IS NOT TRUE
        AND EXISTS (
          SELECT FROM tenant_crm.webhook_deliveries AS delivery
          WHERE delivery.tenant_id = endpoint.tenant_id AND delivery.endpoint_id = endpoint.id
            AND delivery.state IN ('pending', 'sending') AND delivery.next_attempt_at < now() - interval '10 minutes')
      ORDER BY endpoint.wake_at NULLS FIRST, endpoint.id LIMIT most;
  END IF;
END $$;
