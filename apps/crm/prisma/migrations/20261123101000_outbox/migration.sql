-- The transactional outbox of CRM's events: a row for each change and each sink that wants it. A trigger on
-- record_changes writes the rows, so that they commit with the change and no kind of record can omit them.

-- CreateTable
CREATE TABLE "tenant_crm"."outbox" (
    "tenant_id" UUID NOT NULL,
    -- Assigned while the record is locked: the changes of one record are in the order of their commits.
    "position" BIGSERIAL NOT NULL,
    -- `kafka` or `webhooks`.
    "sink" TEXT NOT NULL,
    -- The same for all sinks, and whenever the event is sent again.
    "event_id" UUID NOT NULL,
    "table_name" TEXT NOT NULL,
    "record_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    -- As in record_changes.
    "action" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    -- The actor, and the names of the changed fields: never their values.
    "data" JSONB NOT NULL,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("tenant_id", "position")
);

SELECT tenant_crm.distribute('tenant_crm.outbox');

CREATE INDEX outbox_by_sink ON tenant_crm.outbox (sink, position);

-- Whether the tenant has a webhook endpoint that takes events. There are no endpoints yet.
CREATE FUNCTION tenant_crm.has_webhooks(tenant uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN false;
END $$;

-- The sinks that want the events of a tenant. The service says in a setting of the transaction that a broker is
-- configured; changes by others, such as bulk loads, are not published.
CREATE FUNCTION tenant_crm.event_sinks(tenant uuid) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  sinks text[] := '{}';
BEGIN
  IF current_setting('tessera.publishes_events', true) = 'on' THEN
    sinks := '{kafka}';
  END IF;
  IF tenant_crm.has_webhooks(tenant) THEN
    sinks := sinks || 'webhooks'::text;
  END IF;
  RETURN sinks;
END $$;

-- The trigger is one of the statement: the rows of a bulk change are added together. On Citus it may only touch the
-- shard of the tenant, which has no defaults.
DO $$
DECLARE
  -- What is added, with the change and the sinks as $1 and $2.
  head text := 'INSERT INTO %s (tenant_id, position, sink, event_id, table_name, record_id, version, action, occurred_at, data)';
  rows text := $rows$
    SELECT change.tenant_id, nextval('tenant_crm.outbox_position_seq'), sink, change.event_id, change.table_name,
      change.record_id, change.version, change.action, change.changed_at, jsonb_build_object(
        'actor_type', change.actor_type, 'user_id', change.user_id, 'client_id', change.client_id,
        'impersonator_id', change.impersonator_id,
        'changed_fields', ARRAY(SELECT jsonb_object_keys(change.changes) ORDER BY 1))
    FROM (
      SELECT added.*, gen_random_uuid() AS event_id FROM added WHERE tenant_id = $1 ORDER BY changed_at, version
      OFFSET 0
    ) AS change CROSS JOIN unnest($2) AS sink$rows$;
  insertion text := format(head, 'tenant_crm.outbox')
    || replace(replace(rows, '$1', 'tenant'), '$2', 'sinks');
BEGIN
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    insertion := format('EXECUTE format(%L, tenant_crm.shard_of(''outbox'', tenant)) USING tenant, sinks',
      head || rows);
  END IF;
  EXECUTE format($make$
    CREATE FUNCTION tenant_crm.add_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $add$
    DECLARE
      tenant uuid;
      sinks text[];
    BEGIN
      FOR tenant IN SELECT DISTINCT tenant_id FROM added LOOP
        sinks := tenant_crm.event_sinks(tenant);
        CONTINUE WHEN sinks = '{}';
        %s;
        PERFORM pg_notify('crm_outbox', sink) FROM unnest(sinks) AS sink;
      END LOOP;
      RETURN NULL;
    END $add$
    $make$, insertion);
END $$;

CREATE TRIGGER add_to_outbox AFTER INSERT ON tenant_crm.record_changes REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tenant_crm.add_to_outbox();

-- What the readers of the outbox do for all tenants. These run as their owner, because row-level security shows no row
-- without a tenant, and see nothing with one.
CREATE FUNCTION tenant_crm.first_in_outbox(of_sink text, most integer) RETURNS SETOF tenant_crm.outbox
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM tenant_crm.outbox WHERE sink = of_sink AND tenant_crm.current_tenant() IS NULL
  ORDER BY position LIMIT most
$$;

CREATE FUNCTION tenant_crm.delete_from_outbox(of_sink text, positions bigint[]) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH deleted AS (
    DELETE FROM tenant_crm.outbox
    WHERE sink = of_sink AND position = ANY (positions) AND tenant_crm.current_tenant() IS NULL
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

CREATE FUNCTION tenant_crm.outbox_backlog() RETURNS TABLE (sink text, pending bigint, oldest timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT sink, count(*), min(occurred_at) FROM tenant_crm.outbox
  WHERE tenant_crm.current_tenant() IS NULL GROUP BY sink
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.first_in_outbox(text, integer),
  tenant_crm.delete_from_outbox(text, bigint[]), tenant_crm.outbox_backlog() FROM PUBLIC;

SELECT tenant_crm.protect('tenant_crm.outbox');
