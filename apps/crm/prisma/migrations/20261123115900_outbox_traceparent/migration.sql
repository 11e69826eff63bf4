-- An event keeps the span in which its change was made, so that its consumers continue the trace. The service says it in a
-- setting of the transaction, if spans are recorded. Apart from that, the function is the same as before.
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
        || CASE WHEN current_setting('tessera.traceparent', true) <> ''
             THEN jsonb_build_object('traceparent', current_setting('tessera.traceparent', true)) ELSE '{}' END
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
    CREATE OR REPLACE FUNCTION tenant_crm.add_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $add$
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
