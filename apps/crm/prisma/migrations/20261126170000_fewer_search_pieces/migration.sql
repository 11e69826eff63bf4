-- Writing a record takes less time, and search indexes are smaller: texts in ASCII get no pieces for what the
-- trigram index finds. Present entries of the index of pieces stay valid: they contain all that is looked up. REINDEX
-- INDEX CONCURRENTLY makes the indexes smaller at once.

-- Neighbouring characters, as numbers made of their code points. Pairs can share a number if a character is beyond
-- the Basic Multilingual Plane. None includes a line break, which separates the fields of a record.
CREATE FUNCTION tenant_crm.pairs_of(folded text) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  pairs integer[] := '{}';
  character text;
  code integer;
  former integer := 10;
BEGIN
  FOREACH character IN ARRAY string_to_array(folded, NULL) LOOP
    code := ascii(character);
    IF code <> 10 AND former <> 10 THEN
      -- In this form, PostgreSQL appends in place.
      pairs := pairs || ((former << 16) # code);
    END IF;
    former := code;
  END LOOP;
  RETURN pairs;
END $$;

CREATE FUNCTION tenant_crm.characters_of(folded text) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  codes integer[] := '{}';
  character text;
BEGIN
  FOREACH character IN ARRAY string_to_array(folded, NULL) LOOP
    codes := codes || ascii(character);
  END LOOP;
  RETURN codes;
END $$;

-- Text in ASCII without the pairs of letters or digits, by line breaks in their places: the trigram index finds
-- those pairs, by a trigram for each character that may follow.
CREATE FUNCTION tenant_crm.without_word_pairs(folded text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(folded, '(?<=[a-z0-9])[a-z0-9]*(?=[a-z0-9])', E'\n', 'g');

-- What a short term is found by. For text in ASCII: pairs of characters of which one is neither a letter nor a digit,
-- and single characters, except for digits and those letters that most texts contain anyway. For other text: all
-- pairs and characters, since the trigram index knows which characters may follow only for ASCII.
CREATE OR REPLACE FUNCTION tenant_crm.search_pieces(folded text) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
BEGIN
  IF octet_length(folded) > length(folded) THEN
    RETURN tenant_crm.pairs_of(folded) || tenant_crm.characters_of(folded);
  END IF;
  RETURN tenant_crm.pairs_of(tenant_crm.without_word_pairs(folded))
    || tenant_crm.characters_of(regexp_replace(folded, '[acdeghilmnoprstu0-9\n]+', '', 'g'));
END $$;

-- The pieces that each text with the term has: its pairs, or the only character that it has. None of terms such as
-- "ab" and "a". Not for parallel plans: what is found by pieces is found before a worker has started.
CREATE OR REPLACE FUNCTION tenant_crm.term_pieces(term text) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL UNSAFE AS $$
DECLARE
  folded text := tenant_crm.search_key(term);
BEGIN
  IF length(folded) = 1 THEN
    RETURN tenant_crm.search_pieces(folded);
  ELSIF octet_length(folded) > length(folded) THEN
    RETURN tenant_crm.pairs_of(folded);
  END IF;
  RETURN tenant_crm.pairs_of(tenant_crm.without_word_pairs(folded));
END $$;

-- The pairs of a term, which each text with the term has if it is not in ASCII.
CREATE FUNCTION tenant_crm.term_pairs(term text) RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL UNSAFE
RETURN tenant_crm.pairs_of(tenant_crm.search_key(term));
