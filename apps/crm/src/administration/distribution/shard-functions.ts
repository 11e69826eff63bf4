/**
 * The functions that triggers run on the server with a tenant's shards, where they may only access these shards.
 * Migrations that run on Citus create the same functions; a test compares them. Functions that `refer` creates are
 * not among them. Only add_to_outbox is different: a notification on a worker would reach no reader of the outbox, and
 * Citus could not prepare its transaction. The readers look for events every second.
 */
export const shardFunctions: readonly string[] = [
  `CREATE OR REPLACE FUNCTION tenant_crm.shard_of(relation text, tenant uuid) RETURNS text
    LANGUAGE sql STABLE STRICT RETURN format('tenant_crm.%I', relation || '_'
      || get_shard_id_for_distribution_column(format('tenant_crm.%I', relation)::regclass, tenant))`,
  `CREATE OR REPLACE FUNCTION tenant_crm.add_to_count(
      counted text, tenant uuid, scope_name text, scope uuid, change bigint
    ) RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  counts text := tenant_crm.shard_of('record_counts', tenant);
  changed bigint;
BEGIN
  EXECUTE format('UPDATE %1$s SET count = count + $5
    WHERE tenant_id = $1 AND table_name = $2 AND scope_column = $3 AND scope_id = $4
      AND slot = (
        SELECT slot FROM %1$s
        WHERE tenant_id = $1 AND table_name = $2 AND scope_column = $3 AND scope_id = $4
        LIMIT 1 FOR UPDATE SKIP LOCKED
      ) RETURNING slot', counts) INTO changed USING tenant, counted, scope_name, scope, change;
  IF changed IS NULL THEN
    -- A shard has no defaults.
    EXECUTE format('INSERT INTO %s (tenant_id, table_name, scope_column, scope_id, slot, count)
      VALUES ($1, $2, $3, $4, nextval(''tenant_crm.record_counts_slot_seq''), $5)', counts)
      USING tenant, counted, scope_name, scope, change;
  END IF;
END $body$`,
  `CREATE OR REPLACE FUNCTION tenant_crm.add_to_tag_count(
      counted text, tenant uuid, counted_tag text, change bigint
    ) RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  counts text := tenant_crm.shard_of('tag_counts', tenant);
  changed_slot bigint;
  changed_count bigint;
  key CONSTANT text := tenant_crm.tag_key(counted_tag);
  is_known boolean;
BEGIN
  EXECUTE format('UPDATE %1$s SET count = count + $4
    WHERE tenant_id = $1 AND table_name = $2 AND tag_key = $5 AND tag = $3 AND slot = (
      SELECT slot FROM %1$s WHERE tenant_id = $1 AND table_name = $2 AND tag_key = $5 AND tag = $3
      LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING slot, count', counts)
    INTO changed_slot, changed_count USING tenant, counted, counted_tag, change, key;
  IF changed_slot IS NULL THEN
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE tenant_id = $1 AND table_name = $2 AND tag_key = $4 AND tag = $3)', counts)
      INTO is_known USING tenant, counted, counted_tag, key;
    IF NOT is_known THEN
      PERFORM tenant_crm.admit_tag(counted, tenant, counts);
    END IF;
    -- A shard has no defaults.
    EXECUTE format('INSERT INTO %s (tenant_id, table_name, tag, slot, count, search_key)
      VALUES ($1, $2, $3, nextval(''tenant_crm.tag_counts_slot_seq''), $4, tenant_crm.search_key($3))', counts)
      USING tenant, counted, counted_tag, change;
  ELSIF changed_count = 0 THEN
    EXECUTE format('DELETE FROM %s WHERE tenant_id = $1 AND table_name = $2 AND tag_key = $5 AND tag = $3 AND slot = $4', counts)
      USING tenant, counted, counted_tag, changed_slot, key;
  END IF;
END $body$`,
  `CREATE OR REPLACE FUNCTION tenant_crm.has_webhooks(tenant uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE AS $has$
    DECLARE
      found boolean;
    BEGIN
      EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE tenant_id = $1 AND is_enabled AND deleted_at IS NULL)',
        tenant_crm.shard_of('webhook_endpoints', tenant)) INTO found USING tenant;
      RETURN found;
    END $has$`,
  `CREATE OR REPLACE FUNCTION tenant_crm.add_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $add$
    DECLARE
      tenant uuid;
      sinks text[];
    BEGIN
      FOR tenant IN SELECT DISTINCT tenant_id FROM added LOOP
        sinks := tenant_crm.event_sinks(tenant);
        CONTINUE WHEN sinks = '{}';
        EXECUTE format('INSERT INTO %s (tenant_id, position, sink, event_id, table_name, record_id, version, action, occurred_at, data)
    SELECT change.tenant_id, nextval(''tenant_crm.outbox_position_seq''), sink, change.event_id, change.table_name,
      change.record_id, change.version, change.action, change.changed_at, jsonb_build_object(
        ''actor_type'', change.actor_type, ''user_id'', change.user_id, ''client_id'', change.client_id,
        ''impersonator_id'', change.impersonator_id,
        ''changed_fields'', ARRAY(SELECT jsonb_object_keys(change.changes) ORDER BY 1))
        || CASE WHEN current_setting(''tessera.traceparent'', true) <> ''''
             THEN jsonb_build_object(''traceparent'', current_setting(''tessera.traceparent'', true)) ELSE ''{}'' END
    FROM (
      SELECT added.*, gen_random_uuid() AS event_id FROM added WHERE tenant_id = $1 ORDER BY changed_at, version
      OFFSET 0
    ) AS change CROSS JOIN unnest($2) AS sink', tenant_crm.shard_of('outbox', tenant)) USING tenant, sinks;
      END LOOP;
      RETURN NULL;
    END $add$`,
];
