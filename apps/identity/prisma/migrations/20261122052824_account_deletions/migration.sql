-- DropForeignKey
ALTER TABLE "identity"."activity_entries" DROP CONSTRAINT "activity_entries_impersonator_id_fkey";

-- DropForeignKey
ALTER TABLE "identity"."activity_entries" DROP CONSTRAINT "activity_entries_user_id_fkey";

-- CreateTable
CREATE TABLE "identity"."account_deletions" (
    "user_id" UUID NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "reminded_at" TIMESTAMPTZ(3),

    CONSTRAINT "account_deletions_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "account_deletions_due_at_idx" ON "identity"."account_deletions"("due_at");

-- AddForeignKey
ALTER TABLE "identity"."account_deletions" ADD CONSTRAINT "account_deletions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows Prisma cannot say.

-- Finds what others did to somebody, who may ask for it.
CREATE INDEX "activity_entries_subject_id_idx" ON "identity"."activity_entries" ("subject_id", "created_at", "id")
  WHERE "subject_id" IS NOT NULL;

-- In the place of the foreign keys: an entry is written of users who exist, and their deletion waits for it.
-- Once they are deleted the entry stays.
CREATE FUNCTION "identity"."hold_users_of_activity"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  one uuid;
BEGIN
  FOREACH one IN ARRAY array_remove(ARRAY[NEW."user_id", NEW."impersonator_id"], NULL) LOOP
    PERFORM FROM "identity"."users" WHERE "id" = one FOR KEY SHARE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no user %', one
        USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'activity_entries_user_exists';
    END IF;
  END LOOP;
  RETURN NEW;
END $$;
CREATE TRIGGER "activity_entries_user_exists" BEFORE INSERT ON "identity"."activity_entries"
  FOR EACH ROW EXECUTE FUNCTION "identity"."hold_users_of_activity"();

-- A user is deleted: their own log goes, and what is in the log of a tenant or of the platform's operator keeps
-- nothing but the id, which then leads to nobody.
CREATE FUNCTION "identity"."pseudonymize_activity"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "identity"."activity_entries"
  WHERE "user_id" = OLD."id" AND "tenant_id" IS NULL AND NOT "by_operator";
  UPDATE "identity"."activity_entries" SET "ip_address" = NULL, "user_agent" = NULL
  WHERE "user_id" = OLD."id" AND "impersonator_id" IS NULL;
  UPDATE "identity"."activity_entries" SET "ip_address" = NULL, "user_agent" = NULL
  WHERE "impersonator_id" = OLD."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "users_pseudonymize_activity" AFTER DELETE ON "identity"."users"
  FOR EACH ROW EXECUTE FUNCTION "identity"."pseudonymize_activity"();
