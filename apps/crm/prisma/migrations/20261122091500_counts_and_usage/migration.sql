-- keep_count and refer for tables whose rows are deleted permanently, and the size of a tenant's rows.

-- Check constraints are <table>_<column>_check, as PostgreSQL names them.
ALTER TABLE tenant_crm.messaging_accounts
  RENAME CONSTRAINT messaging_accounts_channel_known TO messaging_accounts_channel_check;

-- keep_count(table, scope columns ...): keeps the count of a table's rows, those that are there included, for each
-- tenant and for each value of each scope column (uuid; a row where it is null is in no scope). Rows that are
-- deleted (deleted_at, where the table has it) are not counted. Called again, it starts anew with the scope columns
-- that are given. The arguments of its triggers are the scope columns. Rows of one statement are counted
-- together: by a trigger of the statement, not of the row. record_counts is described in `tenant_keys`.
CREATE OR REPLACE FUNCTION tenant_crm.keep_count(counted regclass, VARIADIC scopes text[] DEFAULT '{}') RETURNS void
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
  live text := CASE WHEN EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = counted AND attname = 'deleted_at' AND NOT attisdropped
  ) THEN 'deleted_at IS NULL' ELSE 'true' END;
  trigger_function text := format('tenant_crm.%I', 'count_' || name);
  arguments text := (SELECT coalesce(string_agg(quote_literal(scope), ', '), '') FROM unnest(scopes) AS scope);
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
          WHERE %5$s AND scope.id IS NOT NULL
          GROUP BY changed.tenant_id, scope.name, scope.id;
        WHEN 'UPDATE' THEN
          PERFORM tenant_crm.add_to_count(%2$L, changed.tenant_id, scope.name, scope.id, sum(changed.change))
          FROM (
            SELECT tenant_id%3$s, 1 AS change FROM added WHERE %5$s
            UNION ALL
            SELECT tenant_id%3$s, -1 FROM removed WHERE %5$s
          ) AS changed %4$s
          WHERE scope.id IS NOT NULL
          GROUP BY changed.tenant_id, scope.name, scope.id HAVING sum(changed.change) <> 0;
        WHEN 'DELETE' THEN
          PERFORM tenant_crm.add_to_count(%2$L, changed.tenant_id, scope.name, scope.id, -count(*))
          FROM removed AS changed %4$s
          WHERE %5$s AND scope.id IS NOT NULL
          GROUP BY changed.tenant_id, scope.name, scope.id;
        WHEN 'TRUNCATE' THEN
          -- On Citus shards are truncated as well, under names of their own.
          IF TG_TABLE_NAME = %2$L THEN
            EXECUTE 'DELETE FROM tenant_crm.record_counts WHERE table_name = $1' USING %2$L;
          END IF;
      END CASE;
      RETURN NULL;
    END $count$
    $make$, trigger_function, name, columns, scoped, live);
  FOR trigger_name IN
    SELECT tgname FROM pg_trigger WHERE tgrelid = counted
      AND tgname IN ('count_inserted', 'count_updated', 'count_deleted', 'count_truncated')
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %s', trigger_name, counted);
  END LOOP;
  EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)', counted, trigger_function, arguments);
  EXECUTE format('CREATE TRIGGER count_updated AFTER UPDATE ON %s
    REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)', counted, trigger_function, arguments);
  EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)', counted, trigger_function, arguments);
  EXECUTE format('CREATE TRIGGER count_truncated AFTER TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)', counted, trigger_function, arguments);
  -- From here on nobody else writes to the table until this transaction ends.
  EXECUTE 'DELETE FROM tenant_crm.record_counts WHERE table_name = $1' USING name;
  EXECUTE format('INSERT INTO tenant_crm.record_counts (table_name, tenant_id, scope_column, scope_id, count)
    SELECT %L, tenant_id, '''', tenant_id, count(*) FROM %s WHERE %s
    GROUP BY tenant_id', name, counted, live);
  FOREACH scope_column IN ARRAY scopes LOOP
    EXECUTE format('INSERT INTO tenant_crm.record_counts (table_name, tenant_id, scope_column, scope_id, count)
      SELECT %1$L, tenant_id, %2$L, %2$I, count(*) FROM %3$s WHERE %4$s AND %2$I IS NOT NULL
      GROUP BY tenant_id, %2$I', name, scope_column, counted, live);
  END LOOP;
END $keep$;

-- refer(table, column, target): makes a column refer to rows of the same tenant in another table, by the foreign
-- key <table>_<column>_fkey. Where the target has deleted_at, a row that is deleted can no longer be referred to
-- (an error with the name of that key); references that exist stay, so that all is as it was when the row is
-- restored. Nobody waits: a row that is deleted at the same moment counts as deleted afterwards.
CREATE OR REPLACE FUNCTION tenant_crm.refer(referring regclass, field text, target regclass) RETURNS void
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
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = target AND attname = 'deleted_at' AND NOT attisdropped
  ) THEN
    RETURN;
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

-- size_of_rows(table, tenant, count): the bytes that so many rows of a table take on average, with their share of
-- the indexes. PostgreSQL's own statistics answer, so no row is read. Of a partitioned table the partitions are
-- looked at, on Citus the shard with the tenant's rows.
CREATE FUNCTION tenant_crm.size_of_rows(relation text, tenant uuid, number_of_rows bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  shard regclass := tenant_crm.shard_of(relation, tenant);
BEGIN
  RETURN (
    SELECT ceil(number_of_rows * sum(pg_total_relation_size(oid))
      -- Before the first vacuum there are no statistics.
      / greatest(sum(greatest(reltuples, 0))::numeric, number_of_rows, 1))
    FROM pg_class
    WHERE oid IN (SELECT relid FROM pg_partition_tree(shard) WHERE isleaf)
      OR oid = shard AND relkind = 'r'
  );
END $$;
