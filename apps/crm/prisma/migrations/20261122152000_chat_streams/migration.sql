-- Positions of chat events, which order the events of all channels of a tenant; read markers; the search of messages.

-- Counts the chat events of a tenant. The transaction of an event holds the row until it commits, so positions have no
-- gaps and grow in the order of commits.
-- CreateTable
CREATE TABLE "tenant_crm"."chat_feeds" (
    "tenant_id" UUID NOT NULL,
    "last_position" BIGINT NOT NULL,

    CONSTRAINT "chat_feeds_pkey" PRIMARY KEY ("tenant_id")
);

SELECT tenant_crm.distribute('tenant_crm.chat_feeds');
SELECT tenant_crm.protect('tenant_crm.chat_feeds');

-- Events without a position belong to no stream, and there has been none that could have sent them.
DELETE FROM tenant_crm.chat_events;
-- AlterTable
ALTER TABLE "tenant_crm"."chat_events" ADD COLUMN "position" BIGINT NOT NULL;
CREATE UNIQUE INDEX chat_events_position_key ON tenant_crm.chat_events (tenant_id, position);
CREATE INDEX chat_events_by_age ON tenant_crm.chat_events (created_at);
SELECT tenant_crm.protect('tenant_crm.chat_events');

-- AlterTable
ALTER TABLE "tenant_crm"."channel_participants" ADD COLUMN "read_position" BIGINT NOT NULL DEFAULT 0;
SELECT tenant_crm.protect('tenant_crm.channel_participants');

-- AlterTable
ALTER TABLE "tenant_crm"."messages" ADD COLUMN "search_text" TEXT COLLATE "C"
  GENERATED ALWAYS AS (tenant_crm.search_text(ARRAY[body])) STORED;
SELECT tenant_crm.index_search('tenant_crm.messages');
-- The order of found messages.
CREATE INDEX messages_by_creation ON tenant_crm.messages (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
SELECT tenant_crm.protect('tenant_crm.messages');

-- Deletes the events of all tenants that streams can no longer continue from: the first ones of each tenant, so that the
-- others follow each other without gaps. Runs as its owner, because row-level security shows no row without a tenant.
CREATE FUNCTION tenant_crm.delete_expired_chat_events() RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH expired AS (
    SELECT tenant_id, max(position) AS position FROM tenant_crm.chat_events
    WHERE created_at < now() - interval '24 hours' AND tenant_crm.current_tenant() IS NULL
    GROUP BY tenant_id
  ), deleted AS (
    DELETE FROM tenant_crm.chat_events USING expired
    WHERE chat_events.tenant_id = expired.tenant_id AND chat_events.position <= expired.position
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

REVOKE EXECUTE ON FUNCTION tenant_crm.delete_expired_chat_events() FROM PUBLIC;

-- As before, for every function that runs as its owner and is called by name.
CREATE OR REPLACE FUNCTION tenant_crm.prepare_tenant_role() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  missing regclass;
  called regprocedure;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_tenant') THEN
    BEGIN
      CREATE ROLE tessera_tenant NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- Somebody else has, in another database of this server.
    END;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('tenant_crm.prepare_tenant_role'));
  IF NOT pg_has_role('tessera_tenant', 'USAGE') THEN
    GRANT tessera_tenant TO CURRENT_USER;
  END IF;
  IF NOT has_schema_privilege('tessera_tenant', 'tenant_crm', 'USAGE') THEN
    GRANT USAGE ON SCHEMA tenant_crm, tenant_rows TO tessera_tenant;
  END IF;
  FOR missing IN
    SELECT seqrelid FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
    WHERE relnamespace = 'tenant_crm'::regnamespace
      AND NOT has_sequence_privilege('tessera_tenant', seqrelid, 'USAGE')
  LOOP
    EXECUTE format('GRANT USAGE ON SEQUENCE %s TO tessera_tenant', missing);
  END LOOP;
  FOR missing IN
    SELECT oid FROM pg_class WHERE relnamespace = 'tenant_crm'::regnamespace AND relrowsecurity
      AND NOT has_table_privilege('tessera_tenant', oid, 'INSERT')
  LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO tessera_tenant', missing);
  END LOOP;
  FOR missing IN
    SELECT oid FROM pg_class WHERE relnamespace = 'tenant_rows'::regnamespace AND relkind = 'v'
      AND NOT has_table_privilege('tessera_tenant', oid, 'SELECT')
  LOOP
    EXECUTE format('GRANT SELECT ON %s TO tessera_tenant', missing);
  END LOOP;
  FOR called IN
    SELECT oid FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace AND prosecdef
      AND prorettype <> 'trigger'::regtype
      AND NOT has_function_privilege('tessera_tenant', oid, 'EXECUTE')
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tessera_tenant', called);
  END LOOP;
END $$;

DO $$ BEGIN
  PERFORM tenant_crm.prepare_tenant_role();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'The role tessera_tenant cannot be prepared: %', SQLERRM;
END $$;
