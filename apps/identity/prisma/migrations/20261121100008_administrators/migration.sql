-- DropIndex
DROP INDEX "identity"."activity_entries_user_id_id_idx";

-- AlterTable
ALTER TABLE "identity"."activity_entries" ADD COLUMN "impersonator_id" UUID,
ADD COLUMN     "reason" TEXT,
ADD COLUMN     "subject_id" UUID;

-- CreateIndex
CREATE INDEX "activity_entries_created_at_id_idx" ON "identity"."activity_entries"("created_at", "id");

-- CreateIndex
CREATE INDEX "activity_entries_user_id_created_at_id_idx" ON "identity"."activity_entries"("user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "activity_entries_tenant_id_created_at_id_idx" ON "identity"."activity_entries"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "activity_entries_action_created_at_id_idx" ON "identity"."activity_entries"("action", "created_at", "id");

-- CreateIndex
CREATE INDEX "activity_entries_ip_address_created_at_id_idx" ON "identity"."activity_entries"("ip_address", "created_at", "id");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "identity"."users"("created_at", "id");

-- CreateIndex
CREATE INDEX "users_last_name_first_name_id_idx" ON "identity"."users"("last_name", "first_name", "id");

-- AddForeignKey
ALTER TABLE "identity"."activity_entries" ADD CONSTRAINT "activity_entries_impersonator_id_fkey" FOREIGN KEY ("impersonator_id") REFERENCES "identity"."users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What follows Prisma cannot say.

-- Rarely set: only the rows that have it.
CREATE INDEX "activity_entries_impersonator_id_idx" ON "identity"."activity_entries" ("impersonator_id", "created_at", "id")
  WHERE "impersonator_id" IS NOT NULL;

-- Where an extension cannot be had, all else still works: without unaccent a search ignores case only,
-- without pg_trgm it takes longer.
DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['unaccent', 'pg_trgm'] LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA public', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING 'The extension % cannot be had: %', wanted, SQLERRM;
    END;
  END LOOP;
END $$;

-- The schema that an extension lives in; null without it. Another one than ours may have been there first.
CREATE FUNCTION "identity"."extension_home"(extension text) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = extension)::text;

-- search_key(text): text as searches compare it, without case and without diacritics. unaccent() is not
-- IMMUTABLE, because its dictionary can be edited; with the dictionary named, this is, as long as nobody
-- edits that one.
DO $$
DECLARE
  home text := "identity"."extension_home"('unaccent');
  folded text := 'lower(normalize(value))';
BEGIN
  IF home IS NOT NULL THEN
    -- lower() once more: the sign for "number" folds to "No".
    folded := format('lower(%1$s.unaccent(%2$L::regdictionary, %3$s))', home, home || '.unaccent', folded);
  END IF;
  EXECUTE 'CREATE FUNCTION "identity"."search_key"(value text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ' || folded;
END $$;

-- The LIKE pattern that finds a term anywhere, to the letter. Folding comes first: a full-width percent
-- sign folds to a plain one.
CREATE FUNCTION "identity"."search_pattern"(term text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN '%' || regexp_replace("identity"."search_key"(term), '([\\%_])', '\\\1', 'g') || '%';

-- What a search for a user looks at.
CREATE FUNCTION "identity"."user_search_text"(email text, first_name text, last_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN "identity"."search_key"(coalesce(email, '') || E'\n' || first_name || ' ' || last_name);

DO $$
DECLARE
  home text := "identity"."extension_home"('pg_trgm');
BEGIN
  IF home IS NOT NULL THEN
    EXECUTE format('CREATE INDEX "users_search_idx" ON "identity"."users" USING gin
      ("identity"."user_search_text"("email", "first_name", "last_name") %s.gin_trgm_ops)', home);
  END IF;
END $$;
