-- Writing a record takes less time: the index of pieces has numbers instead of texts, and texts that need little or
-- no work are folded without it. All search indexes are built again.

-- folded(text): text without case and without diacritics; what search_key did. In SQL, so that the schema of unaccent
-- is looked up now: those who search may have no right to use it.
DO $$
DECLARE
  home text := tenant_crm.extension_home('unaccent');
  folded text := 'lower(normalize(value))';
BEGIN
  IF home IS NOT NULL THEN
    folded := format('lower(%1$s.unaccent(%2$L::regdictionary, %3$s))', home, home || '.unaccent', folded);
  END IF;
  EXECUTE 'CREATE FUNCTION tenant_crm.folded(value text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ' || folded;
END $$;

-- search_key(text): as before; text in ASCII has no diacritics and has one form only. In PL/pgSQL, because a
-- function in SQL that PostgreSQL cannot inline takes longer to call.
CREATE OR REPLACE FUNCTION tenant_crm.search_key(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF octet_length(value) = length(value) THEN
    RETURN lower(value COLLATE "C");
  END IF;
  RETURN tenant_crm.folded(value);
END $$;

-- texts_in(list, key) and texts_of(object): as before; most lists and objects are empty.
CREATE OR REPLACE FUNCTION tenant_crm.texts_in(list jsonb, key text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF list = '[]' THEN
    RETURN NULL;
  END IF;
  RETURN (SELECT array_agg(item ->> key) FROM jsonb_array_elements(list) AS item);
END $$;

CREATE OR REPLACE FUNCTION tenant_crm.texts_of(object jsonb) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF object = '{}' THEN
    RETURN NULL;
  END IF;
  RETURN (
    SELECT array_agg(member.value #>> '{}') FROM jsonb_each(object) AS member
    WHERE jsonb_typeof(member.value) = 'string'
  );
END $$;

DO $migrate$
DECLARE
  definitions text[];
  names text[];
  name text;
  definition text;
BEGIN
  -- Those of partitions belong to that of their table.
  SELECT array_agg(replace(pg_get_indexdef(oid), ' ON ONLY ', ' ON ')), array_agg(oid::regclass::text)
  INTO definitions, names
  FROM pg_class
  WHERE relkind IN ('i', 'I') AND NOT relispartition AND oid IN (
    SELECT objid FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_proc'::regclass
      AND refobjid = 'tenant_crm.search_pieces(text)'::regprocedure
  );
  FOREACH name IN ARRAY names LOOP
    EXECUTE format('DROP INDEX %s', name);
  END LOOP;
  DROP FUNCTION tenant_crm.term_pieces(text);
  DROP FUNCTION tenant_crm.search_pieces(text);

  -- All pieces of one and of two characters in turn, as numbers made of their code points; the first piece is there
  -- twice. Pieces can share a number if a character is beyond the Basic Multilingual Plane. A trigram index
  -- cannot find pieces: they have an index of their own.
  CREATE FUNCTION tenant_crm.search_pieces(folded text) RETURNS integer[]
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $pieces$
  DECLARE
    pieces integer[];
    character text;
    code integer;
    former integer := 0;
  BEGIN
    FOREACH character IN ARRAY string_to_array(folded, NULL) LOOP
      code := ascii(character);
      -- In this form, PostgreSQL appends in place.
      pieces := pieces || code;
      pieces := pieces || ((former << 16) # code);
      former := code;
    END LOOP;
    RETURN pieces;
  END $pieces$;

  -- The pieces to find a term by: those of two characters, or the only character that it has. Not for parallel
  -- plans: what is found by pieces is found before a worker has started.
  CREATE FUNCTION tenant_crm.term_pieces(term text) RETURNS integer[]
  LANGUAGE sql IMMUTABLE STRICT PARALLEL UNSAFE
  RETURN (
    SELECT coalesce(array_agg(piece), '{}')
    FROM unnest(tenant_crm.search_pieces(tenant_crm.search_key(term))) WITH ORDINALITY AS found(piece, position)
    WHERE position % 2 = 0 AND (position > 2 OR length(tenant_crm.search_key(term)) = 1)
  );

  FOREACH definition IN ARRAY definitions LOOP
    EXECUTE definition;
  END LOOP;
END $migrate$;
