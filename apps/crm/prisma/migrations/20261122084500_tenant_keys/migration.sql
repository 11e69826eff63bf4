-- Puts the tenant into every key, so that a table can be spread by tenant: over the servers of a Citus cluster
-- or over partitions. Adds exact counts within a scope (the messages of a channel, the time entries of a user).
--
-- Rules for tables in this schema (src/tables/catalogue.test.ts checks them):
--  1. `tenant_id uuid NOT NULL` is part of the primary key, PRIMARY KEY (tenant_id, id), and of every unique
--     index and foreign key. Names: foreign keys are <table>_<column>_fkey, unique indexes are
--     <table>_<columns without tenant_id>_key, exclusion constraints are <table>_<columns>_excl. The service turns
--     violations into errors of the field by these names.
--  2. References are made by `refer`, counts by `keep_count`, the search index by `index_search`. There are no
--     other triggers, and no ON DELETE SET NULL.
--  3. Ids are UUIDs. A sequence is a bigint.
--  4. `SELECT tenant_crm.distribute('tenant_crm.<table>')` comes directly after CREATE TABLE, before foreign keys
--     and triggers.
--  5. One command per statement, also inside EXECUTE: Citus forwards the whole text to its workers.

-- Writers take their locks in this order.
LOCK TABLE tenant_crm.contacts, tenant_crm.companies, tenant_crm.messaging_accounts, tenant_crm.record_counts
  IN ACCESS EXCLUSIVE MODE;

-- distribute(table): spreads a table over the servers of a Citus cluster by tenant_id; all tables of one tenant
-- are on the same server. Does nothing on plain PostgreSQL.
CREATE FUNCTION tenant_crm.distribute(distributed regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    PERFORM create_distributed_table(distributed, 'tenant_id', colocate_with => CASE
      WHEN distributed = 'tenant_crm.record_counts'::regclass THEN 'none'
      ELSE 'tenant_crm.record_counts'
    END);
  END IF;
END $$;

-- shard_of(table, tenant): the relation that has a tenant's rows of a table, as an SQL identifier. On Citus this
-- is a shard: a trigger may touch only shards on its own server, never a distributed table as a whole.
DO $$
DECLARE
  shard text := $shard$format('tenant_crm.%I', relation)$shard$;
BEGIN
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    shard := $shard$format('tenant_crm.%I', relation || '_'
      || get_shard_id_for_distribution_column(format('tenant_crm.%I', relation)::regclass, tenant))$shard$;
  END IF;
  EXECUTE 'CREATE FUNCTION tenant_crm.shard_of(relation text, tenant uuid) RETURNS text
    LANGUAGE sql STABLE STRICT RETURN ' || shard;
END $$;

-- Everything that depends on the former functions and keys. The foreign key of contacts can stay on plain
-- PostgreSQL: it uses the index that becomes the primary key of companies.
DO $$
DECLARE
  counted text;
  event text;
BEGIN
  FOREACH counted IN ARRAY ARRAY['contacts', 'companies'] LOOP
    FOREACH event IN ARRAY ARRAY['inserted', 'updated', 'deleted', 'truncated'] LOOP
      EXECUTE format('DROP TRIGGER count_%s ON tenant_crm.%I', event, counted);
    END LOOP;
  END LOOP;
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    EXECUTE 'ALTER TABLE tenant_crm.contacts DROP CONSTRAINT contacts_company_id_fkey';
  END IF;
END $$;
DROP TRIGGER contacts_company_id ON tenant_crm.contacts;
DROP FUNCTION tenant_crm.keep_count(regclass);
DROP FUNCTION tenant_crm.count_records();
DROP FUNCTION tenant_crm.add_to_count(text, uuid, bigint);
DROP FUNCTION tenant_crm.refer(regclass, text, regclass);

-- record_counts: how many rows that are not deleted a tenant has in a table, as the sum over slots. For all rows
-- of the tenant, scope_column is '' and scope_id is the tenant's id. For the rows within a scope, scope_column
-- is the column and scope_id is the value in it:
--   SELECT coalesce(sum(count), 0) FROM tenant_crm.record_counts
--   WHERE tenant_id = <tenant> AND table_name = 'messages'
--     AND scope_column = 'channel_id' AND scope_id = <channel>
TRUNCATE tenant_crm.record_counts;
ALTER TABLE tenant_crm.record_counts ALTER COLUMN slot TYPE bigint;
ALTER SEQUENCE tenant_crm.record_counts_slot_seq AS bigint;
ALTER TABLE tenant_crm.record_counts ADD COLUMN scope_column text NOT NULL;
ALTER TABLE tenant_crm.record_counts ADD COLUMN scope_id uuid NOT NULL;
ALTER TABLE tenant_crm.record_counts DROP CONSTRAINT record_counts_pkey;
ALTER TABLE tenant_crm.record_counts ADD CONSTRAINT record_counts_pkey
  PRIMARY KEY (tenant_id, table_name, scope_column, scope_id, slot);
SELECT tenant_crm.distribute('tenant_crm.record_counts');

ALTER TABLE tenant_crm.contacts DROP CONSTRAINT contacts_pkey;
ALTER TABLE tenant_crm.contacts ADD CONSTRAINT contacts_pkey PRIMARY KEY (tenant_id, id);
SELECT tenant_crm.distribute('tenant_crm.contacts');

ALTER TABLE tenant_crm.companies DROP CONSTRAINT companies_pkey;
ALTER TABLE tenant_crm.companies ADD CONSTRAINT companies_pkey
  PRIMARY KEY USING INDEX companies_tenant_id_id_key;
SELECT tenant_crm.distribute('tenant_crm.companies');

ALTER TABLE tenant_crm.messaging_accounts DROP CONSTRAINT messaging_accounts_pkey;
ALTER TABLE tenant_crm.messaging_accounts ADD CONSTRAINT messaging_accounts_pkey PRIMARY KEY (tenant_id, id);
ALTER INDEX tenant_crm.messaging_accounts_tenant_id_channel_name_key RENAME TO messaging_accounts_channel_name_key;
SELECT tenant_crm.distribute('tenant_crm.messaging_accounts');

-- add_to_count(...): adds to any slot that no other transaction holds, or to a new one. Writers never wait for
-- each other and so cannot deadlock, in whatever order they touch tables, tenants and scopes. There are as many
-- slots as there ever were concurrent writers. On plain PostgreSQL the statements are static: EXECUTE would plan
-- them anew for each insert (0.1 ms).
DO $$
DECLARE
  head text := 'CREATE FUNCTION tenant_crm.add_to_count(
      counted text, tenant uuid, scope_name text, scope uuid, change bigint
    ) RETURNS void LANGUAGE plpgsql AS ';
BEGIN
  IF tenant_crm.extension_home('citus') IS NULL THEN
    EXECUTE head || quote_literal($body$
BEGIN
  UPDATE tenant_crm.record_counts SET count = count + change
  WHERE tenant_id = tenant AND table_name = counted AND scope_column = scope_name AND scope_id = scope
    AND slot = (
      SELECT slot FROM tenant_crm.record_counts
      WHERE tenant_id = tenant AND table_name = counted AND scope_column = scope_name AND scope_id = scope
      LIMIT 1 FOR UPDATE SKIP LOCKED
    );
  IF NOT FOUND THEN
    INSERT INTO tenant_crm.record_counts (table_name, tenant_id, scope_column, scope_id, count)
    VALUES (counted, tenant, scope_name, scope, change);
  END IF;
END $body$);
  ELSE
    EXECUTE head || quote_literal($body$
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
END $body$);
  END IF;
END $$;

-- keep_count(table, scope columns ...): keeps the count of a table's rows that are not deleted, those that are
-- there included, for each tenant and for each value of each scope column (uuid; a row where it is null is in no
-- scope). Called again, it starts anew with the scope columns that are given. The table needs tenant_id and
-- deleted_at. Rows of one statement are counted together: by a trigger of the statement, not of the row.
CREATE FUNCTION tenant_crm.keep_count(counted regclass, VARIADIC scopes text[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql AS $keep$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = counted);
  columns text := (SELECT coalesce(string_agg(', ' || quote_ident(scope), ''), '') FROM unnest(scopes) AS scope);
  -- Each row once for each scope that it is in.
  scoped text := (
    SELECT format('CROSS JOIN LATERAL (VALUES (%L, changed.tenant_id)%s) AS scope (name, id)', '',
      coalesce(string_agg(format(', (%L, changed.%I)', scope, scope), ''), ''))
    FROM unnest(scopes) AS scope
  );
  trigger_function text := format('tenant_crm.%I', 'count_' || name);
  trigger_name text;
  scope_column text;
BEGIN
  EXECUTE format($make$
    CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql AS $count$
    BEGIN
      CASE TG_OP
        WHEN 'INSERT' THEN
          PERFORM tenant_crm.add_to_count(%2$L, changed.tenant_id, scope.name, scope.id, count(*))
          FROM added AS changed %4$s
          WHERE changed.deleted_at IS NULL AND scope.id IS NOT NULL
          GROUP BY changed.tenant_id, scope.name, scope.id;
        WHEN 'UPDATE' THEN
          PERFORM tenant_crm.add_to_count(%2$L, changed.tenant_id, scope.name, scope.id, sum(changed.change))
          FROM (
            SELECT tenant_id%3$s, 1 AS change FROM added WHERE deleted_at IS NULL
            UNION ALL
            SELECT tenant_id%3$s, -1 FROM removed WHERE deleted_at IS NULL
          ) AS changed %4$s
          WHERE scope.id IS NOT NULL
          GROUP BY changed.tenant_id, scope.name, scope.id HAVING sum(changed.change) <> 0;
        WHEN 'DELETE' THEN
          PERFORM tenant_crm.add_to_count(%2$L, changed.tenant_id, scope.name, scope.id, -count(*))
          FROM removed AS changed %4$s
          WHERE changed.deleted_at IS NULL AND scope.id IS NOT NULL
          GROUP BY changed.tenant_id, scope.name, scope.id;
        WHEN 'TRUNCATE' THEN
          -- On Citus shards are truncated as well, under names of their own.
          IF TG_TABLE_NAME = %2$L THEN
            EXECUTE 'DELETE FROM tenant_crm.record_counts WHERE table_name = $1' USING %2$L;
          END IF;
      END CASE;
      RETURN NULL;
    END $count$
    $make$, trigger_function, name, columns, scoped);
  FOR trigger_name IN
    SELECT tgname FROM pg_trigger WHERE tgrelid = counted
      AND tgname IN ('count_inserted', 'count_updated', 'count_deleted', 'count_truncated')
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %s', trigger_name, counted);
  END LOOP;
  EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  EXECUTE format('CREATE TRIGGER count_updated AFTER UPDATE ON %s
    REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  EXECUTE format('CREATE TRIGGER count_truncated AFTER TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION %s()', counted, trigger_function);
  -- From here on nobody else writes to the table until this transaction ends.
  EXECUTE 'DELETE FROM tenant_crm.record_counts WHERE table_name = $1' USING name;
  EXECUTE format('INSERT INTO tenant_crm.record_counts (table_name, tenant_id, scope_column, scope_id, count)
    SELECT %L, tenant_id, '''', tenant_id, count(*) FROM %s WHERE deleted_at IS NULL
    GROUP BY tenant_id', name, counted);
  FOREACH scope_column IN ARRAY scopes LOOP
    EXECUTE format('INSERT INTO tenant_crm.record_counts (table_name, tenant_id, scope_column, scope_id, count)
      SELECT %1$L, tenant_id, %2$L, %2$I, count(*) FROM %3$s WHERE deleted_at IS NULL AND %2$I IS NOT NULL
      GROUP BY tenant_id, %2$I', name, scope_column, counted);
  END LOOP;
END $keep$;

-- refer(table, column, target): makes a column refer to records of the same tenant in another table, by the
-- foreign key <table>_<column>_fkey. A record that is deleted can no longer be referred to (an error with the
-- name of that key); references that exist stay, so that all is as it was when the record is restored. Nobody
-- waits: a record that is deleted at the same moment counts as deleted afterwards.
CREATE FUNCTION tenant_crm.refer(referring regclass, field text, target regclass) RETURNS void
LANGUAGE plpgsql AS $refer$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = referring) || '_' || field;
  key text := name || '_fkey';
  -- In the words of PostgreSQL: of an error on another server of a Citus cluster only the message arrives.
  message text := format('%s is deleted: this violates foreign key constraint "%s"', field, key);
  find_deleted text := format('is_deleted := EXISTS (
      SELECT FROM %s WHERE tenant_id = NEW.tenant_id AND id = NEW.%I AND deleted_at IS NOT NULL
    )', target, field);
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = referring AND conname = key) THEN
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (tenant_id, %I)
      REFERENCES %s (tenant_id, id)', referring, key, field, target);
  END IF;
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    find_deleted := format($find$EXECUTE format('SELECT EXISTS (
        SELECT FROM %%s WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NOT NULL
      )', tenant_crm.shard_of(%L, NEW.tenant_id)) INTO is_deleted USING NEW.tenant_id, NEW.%I$find$,
      (SELECT relname FROM pg_class WHERE oid = target), field);
  END IF;
  EXECUTE format($make$
    CREATE OR REPLACE FUNCTION tenant_crm.%1$I() RETURNS trigger LANGUAGE plpgsql AS $check$
    DECLARE
      is_deleted boolean;
    BEGIN
      IF TG_OP = 'INSERT' OR NEW.%2$I IS DISTINCT FROM OLD.%2$I THEN
        %3$s;
        IF is_deleted THEN
          RAISE foreign_key_violation USING CONSTRAINT = %4$L, MESSAGE = %5$L;
        END IF;
      END IF;
      RETURN NEW;
    END $check$
    $make$, name, field, find_deleted, key, message);
  EXECUTE format('CREATE TRIGGER %1$I BEFORE INSERT OR UPDATE OF %2$I ON %3$s
    FOR EACH ROW WHEN (NEW.%2$I IS NOT NULL) EXECUTE FUNCTION tenant_crm.%1$I()', name, field, referring);
END $refer$;

SELECT tenant_crm.keep_count('tenant_crm.contacts');
SELECT tenant_crm.keep_count('tenant_crm.companies');
SELECT tenant_crm.refer('tenant_crm.contacts', 'company_id', 'tenant_crm.companies');
