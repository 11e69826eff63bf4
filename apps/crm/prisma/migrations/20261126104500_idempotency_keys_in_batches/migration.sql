-- Deletes up to 5000 expired keys at once, those that expired first: after a pause, one statement for all of them would
-- hold its locks and an old snapshot for long. Otherwise the function is the same as before.
CREATE OR REPLACE FUNCTION tenant_crm.delete_expired_idempotency_keys() RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH expired AS MATERIALIZED (
    SELECT tenant_id, caller, key FROM tenant_crm.idempotency_keys
    WHERE expires_at <= now() AND tenant_crm.current_tenant() IS NULL
    ORDER BY expires_at LIMIT 5000
  ), deleted AS (
    DELETE FROM tenant_crm.idempotency_keys AS stored USING expired
    WHERE stored.tenant_id = expired.tenant_id AND stored.caller = expired.caller AND stored.key = expired.key
      -- A request may use the key again meanwhile.
      AND stored.expires_at <= now()
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;
