-- What all kinds of records share: how text is searched, and exact counts.

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "tenant_crm";

-- Where an extension cannot be had, all else still works: without unaccent a search ignores case only,
-- without the other two it takes longer.
DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['unaccent', 'pg_trgm', 'btree_gin'] LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA public', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING 'The extension % cannot be had: %', wanted, SQLERRM;
    END;
  END LOOP;
END $$;

-- The schema that an extension lives in; null without it. Another one than ours may have been there first.
CREATE FUNCTION tenant_crm.extension_home(extension text) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = extension)::text;

-- search_key(text): text as searches compare it, without case and without diacritics. unaccent() is not
-- IMMUTABLE, because its dictionary can be edited; with the dictionary named, this is, as long as nobody
-- edits that one.
DO $$
DECLARE
  home text := tenant_crm.extension_home('unaccent');
  folded text := 'lower(normalize(value))';
BEGIN
  IF home IS NOT NULL THEN
    -- lower() once more: the sign for "number" folds to "No".
    folded := format('lower(%1$s.unaccent(%2$L::regdictionary, %3$s))', home, home || '.unaccent', folded);
  END IF;
  EXECUTE 'CREATE FUNCTION tenant_crm.search_key(value text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ' || folded;
END $$;

-- What a search looks at: several texts, a line each, folded. Those that are null are left out.
CREATE FUNCTION tenant_crm.search_text(texts text[]) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN tenant_crm.search_key(array_to_string(texts, E'\n'));

-- The texts under one key of a JSON list of objects.
CREATE FUNCTION tenant_crm.texts_in(list jsonb, key text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT array_agg(item ->> key) FROM jsonb_array_elements(list) AS item);

-- The LIKE pattern that finds a term anywhere, to the letter. Folding comes first: a full-width percent
-- sign folds to a plain one.
CREATE FUNCTION tenant_crm.search_pattern(term text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN '%' || regexp_replace(tenant_crm.search_key(term), '([\\%_])', '\\\1', 'g') || '%';

-- All pieces of one and of two characters. A trigram index cannot find these: they have one of their own.
CREATE FUNCTION tenant_crm.search_pieces(folded text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
RETURN (
  SELECT array_agg(one) || array_agg(one || next) FILTER (WHERE next IS NOT NULL)
  FROM unnest(string_to_array(folded, NULL), (string_to_array(folded, NULL))[2:]) AS pair(one, next)
);

-- The pieces to find a term by: those of two characters, or the only character that it has. Not for
-- parallel plans: what is found by pieces is found before a worker has started.
CREATE FUNCTION tenant_crm.term_pieces(term text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL UNSAFE
RETURN (
  SELECT coalesce(array_agg(piece), '{}')
  FROM unnest(tenant_crm.search_pieces(tenant_crm.search_key(term))) AS piece
  WHERE length(piece) = least(2, length(tenant_crm.search_key(term)))
);

-- Makes the index behind the search of a table that has search_text. Arrays that are filtered by what
-- they hold can share it.
CREATE FUNCTION tenant_crm.index_search(searched regclass, VARIADIC arrays text[] DEFAULT '{}')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  columns text[] := ARRAY['tenant_crm.search_pieces(search_text)'] || arrays;
  name text := (SELECT relname || '_search' FROM pg_class WHERE oid = searched);
BEGIN
  IF tenant_crm.extension_home('pg_trgm') IS NOT NULL THEN
    columns := array_prepend(
      format('search_text %s.gin_trgm_ops', tenant_crm.extension_home('pg_trgm')), columns);
  END IF;
  IF tenant_crm.extension_home('btree_gin') IS NOT NULL THEN
    columns := array_prepend('tenant_id', columns);
  END IF;
  EXECUTE format('CREATE INDEX %I ON %s USING gin (%s)', name, searched, array_to_string(columns, ', '));
END $$;

-- CreateTable
CREATE TABLE "tenant_crm"."record_counts" (
    "table_name" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "slot" SERIAL NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "record_counts_pkey" PRIMARY KEY ("table_name","tenant_id","slot")
) WITH (fillfactor = 50);

-- Adds to any slot that no other transaction holds, or to a new one: writers never wait for each other
-- and so cannot block each other, in whatever order they touch tables and tenants. There are as many
-- slots as there ever were writers at once.
CREATE FUNCTION tenant_crm.add_to_count(counted text, tenant uuid, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tenant_crm.record_counts SET count = count + change
  WHERE (table_name, tenant_id, slot) = (
    SELECT table_name, tenant_id, slot FROM tenant_crm.record_counts
    WHERE table_name = counted AND tenant_id = tenant
    LIMIT 1 FOR UPDATE SKIP LOCKED
  );
  IF NOT FOUND THEN
    INSERT INTO tenant_crm.record_counts (table_name, tenant_id, count) VALUES (counted, tenant, change);
  END IF;
END $$;

-- Once a statement, not once a row: rows of one statement are counted together.
CREATE FUNCTION tenant_crm.count_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN
      PERFORM tenant_crm.add_to_count(TG_TABLE_NAME, tenant_id, count(*))
      FROM added WHERE deleted_at IS NULL GROUP BY tenant_id;
    WHEN 'UPDATE' THEN
      PERFORM tenant_crm.add_to_count(TG_TABLE_NAME, tenant_id, sum(change))
      FROM (
        SELECT tenant_id, 1 AS change FROM added WHERE deleted_at IS NULL
        UNION ALL
        SELECT tenant_id, -1 FROM removed WHERE deleted_at IS NULL
      ) AS changes
      GROUP BY tenant_id HAVING sum(change) <> 0;
    WHEN 'DELETE' THEN
      PERFORM tenant_crm.add_to_count(TG_TABLE_NAME, tenant_id, -count(*))
      FROM removed WHERE deleted_at IS NULL GROUP BY tenant_id;
    WHEN 'TRUNCATE' THEN
      DELETE FROM tenant_crm.record_counts WHERE table_name = TG_TABLE_NAME;
  END CASE;
  RETURN NULL;
END $$;

-- Keeps the count of a table's rows, those that are there included.
CREATE FUNCTION tenant_crm.keep_count(counted regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = counted);
BEGIN
  EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %s REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tenant_crm.count_records()', counted);
  EXECUTE format('CREATE TRIGGER count_updated AFTER UPDATE ON %s
    REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION tenant_crm.count_records()', counted);
  EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %s REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION tenant_crm.count_records()', counted);
  EXECUTE format('CREATE TRIGGER count_truncated AFTER TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION tenant_crm.count_records()', counted);
  EXECUTE format('INSERT INTO tenant_crm.record_counts (table_name, tenant_id, count)
    SELECT %L, tenant_id, count(*) FROM %s WHERE deleted_at IS NULL GROUP BY tenant_id', name, counted);
END $$;
