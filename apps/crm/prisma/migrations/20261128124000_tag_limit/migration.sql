-- A tenant has a limited number of different tags on records of one kind, and a search does not fold the tags again.

-- What searches compare. New tags have it; the next migration adds it to existing ones.
ALTER TABLE tenant_crm.tag_counts ADD COLUMN search_key text;
SELECT tenant_crm.protect('tenant_crm.tag_counts');

-- admit_tag(table, tenant, counts): refuses one more tag of a tenant if the records of a table have 10,000 different ones.
-- Spellings count, because lists and searches read each of them. The tags are counted once in a transaction, which has a setting
-- for each table with the places that are left; the rollback to a savepoint also resets it. From half of the limit
-- on, and from the 50th new tag of a transaction on, those with new tags of the same table and tenant wait for one another, so that
-- they do not exceed it together. Others, which add a tag now and then, do not wait. Renaming a tag needs a place for both
-- names until the last record has changed, so its transactions have `tessera.renames_tag`. Tenants of earlier releases
-- that have more tags keep and use them, but cannot add any.
CREATE FUNCTION tenant_crm.admit_tag(counted text, tenant uuid, counts text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  maximum CONSTANT int := 10000;
  setting CONSTANT text := 'tessera.places_of_' || counted || '_tags';
  known text[] := string_to_array(current_setting(setting, true), '|');
  places int;
  is_locked boolean := false;
  added int := 0;
BEGIN
  IF current_setting('tessera.renames_tag', true) = 'on' THEN
    RETURN;
  END IF;
  IF known[1] = tenant::text THEN
    places := known[2]::int;
    is_locked := known[3]::boolean;
    added := known[4]::int;
  END IF;
  WHILE places IS NULL OR (NOT is_locked AND (places <= maximum / 2 OR added >= 50)) LOOP
    IF places IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'tags', tenant, counted), 0));
      is_locked := true;
    END IF;
    EXECUTE format(
      'SELECT $3 - count(*) FROM (
         SELECT DISTINCT tag FROM %s WHERE tenant_id = $1 AND table_name = $2 LIMIT $3
       ) AS different', counts
    ) INTO places USING tenant, counted, maximum;
  END LOOP;
  IF places <= 0 THEN
    RAISE EXCEPTION 'The % of the tenant have % different tags', counted, maximum
      USING ERRCODE = 'check_violation', CONSTRAINT = counted || '_tags_check';
  END IF;
  PERFORM set_config(setting, concat_ws('|', tenant, places - 1, is_locked, added + 1), true);
END $$;

-- add_to_tag_count(...): as before, but a tag that no record has needs a place. The condition for the key lets an index find the
-- tag even before the table is analyzed: with that for the tag alone, PostgreSQL read all tags of the table and tenant for each.
DO $$
DECLARE
  head text := 'CREATE OR REPLACE FUNCTION tenant_crm.add_to_tag_count(
      counted text, tenant uuid, counted_tag text, change bigint
    ) RETURNS void LANGUAGE plpgsql AS ';
BEGIN
  IF tenant_crm.extension_home('citus') IS NULL THEN
    EXECUTE head || quote_literal($body$
DECLARE
  changed_slot bigint;
  changed_count bigint;
  key CONSTANT text := tenant_crm.tag_key(counted_tag);
BEGIN
  UPDATE tenant_crm.tag_counts SET count = count + change
  WHERE tenant_id = tenant AND table_name = counted AND tag_key = key AND tag = counted_tag AND slot = (
    SELECT slot FROM tenant_crm.tag_counts
    WHERE tenant_id = tenant AND table_name = counted AND tag_key = key AND tag = counted_tag
    LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING slot, count INTO changed_slot, changed_count;
  IF changed_slot IS NULL THEN
    IF NOT EXISTS (
      SELECT FROM tenant_crm.tag_counts WHERE tenant_id = tenant AND table_name = counted AND tag_key = key AND tag = counted_tag
    ) THEN
      PERFORM tenant_crm.admit_tag(counted, tenant, 'tenant_crm.tag_counts');
    END IF;
    INSERT INTO tenant_crm.tag_counts (tenant_id, table_name, tag, count, search_key)
    VALUES (tenant, counted, counted_tag, change, tenant_crm.search_key(counted_tag));
  ELSIF changed_count = 0 THEN
    DELETE FROM tenant_crm.tag_counts
    WHERE tenant_id = tenant AND table_name = counted AND tag_key = key AND tag = counted_tag AND slot = changed_slot;
  END IF;
END $body$);
  ELSE
    EXECUTE head || quote_literal($body$
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
END $body$);
  END IF;
END $$;
