-- Orders the deliveries of each record: one process at a time creates deliveries.
CREATE SEQUENCE tenant_crm.webhook_deliveries_order AS bigint;

-- Whether the tenant has a webhook endpoint that takes events. On Citus, the trigger that asks runs where the tenant's
-- shards are, and may only touch these.
DO $$
DECLARE
  condition text := 'tenant_id = %s AND is_enabled AND deleted_at IS NULL';
  answer text := format('RETURN EXISTS (SELECT FROM tenant_crm.webhook_endpoints WHERE %s)',
    format(condition, 'tenant'));
BEGIN
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    answer := format($find$EXECUTE format('SELECT EXISTS (SELECT FROM %%s WHERE %s)',
        tenant_crm.shard_of('webhook_endpoints', tenant)) INTO found USING tenant;
      RETURN found$find$, format(condition, '$1'));
  END IF;
  EXECUTE format($make$
    CREATE OR REPLACE FUNCTION tenant_crm.has_webhooks(tenant uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE AS $has$
    DECLARE
      found boolean;
    BEGIN
      %s;
    END $has$
    $make$, answer);
END $$;
