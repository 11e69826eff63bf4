-- folded(text): as before, and the same for letters that lower case and unaccent leave different although they are one letter:
-- the final sigma of Greek, other forms of letters that Unicode folds to the usual one, and the ligatures of Armenian.
-- Where unaccent cannot be had, this makes searches ignore case completely. The texts that rows have are folded anew in the next
-- migration; until then, a search may not find those with such letters.
DO $$
DECLARE
  home text := tenant_crm.extension_home('unaccent');
  folded text := 'lower(normalize(value))';
  ligatures text[] := ARRAY['ß ss', 'և եւ', 'ﬓ մն', 'ﬔ մե', 'ﬕ մի', 'ﬖ վն', 'ﬗ մխ'];
  ligature text;
BEGIN
  IF home IS NOT NULL THEN
    folded := format('lower(%1$s.unaccent(%2$L::regdictionary, %3$s))', home, home || '.unaccent', folded);
  END IF;
  folded := format('translate(%s, %L, %L)', folded, 'ςµſẛιϐϑϕϖϰϱϵᲀᲁᲂᲃᲄᲅᲆᲇᲈ', 'σμssιβθφπκρεвдосттъѣꙋ');
  FOREACH ligature IN ARRAY ligatures LOOP
    folded := format('replace(%s, %L, %L)', folded, split_part(ligature, ' ', 1), split_part(ligature, ' ', 2));
  END LOOP;
  EXECUTE 'CREATE OR REPLACE FUNCTION tenant_crm.folded(value text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ' || folded;
END $$;
