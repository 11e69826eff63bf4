-- Entries say what changed. Those of commands of identity-admin have no user, unless the command is about an account and
-- belongs to the log of its user.
ALTER TABLE "identity"."activity_entries" ADD COLUMN "changes" JSON, ADD COLUMN "command" TEXT;
-- The previous release reads entries by their user, or with a join that allows null.
-- squawk-ignore ban-drop-not-null
ALTER TABLE "identity"."activity_entries" ALTER COLUMN "user_id" DROP NOT NULL;

CREATE OR REPLACE FUNCTION "identity"."mark_operator_activity"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."by_operator" := NEW."impersonator_id" IS NOT NULL OR NEW."command" IS NOT NULL OR EXISTS (
    SELECT FROM "identity"."users" WHERE "id" = NEW."user_id" AND "is_system_admin");
  RETURN NEW;
END $$;

-- A user is deleted: their own log goes, and what is in the log of a tenant or of the platform's operator keeps
-- nothing but the id, which then leads to nobody, and what changed in a tenant. The actions are those whose changes are
-- about a person (`isPersonal` in activity/actions.ts).
CREATE OR REPLACE FUNCTION "identity"."pseudonymize_activity"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "identity"."activity_entries"
  WHERE "user_id" = OLD."id" AND "tenant_id" IS NULL AND NOT "by_operator";
  UPDATE "identity"."activity_entries" SET "ip_address" = NULL, "user_agent" = NULL
  WHERE "user_id" = OLD."id" AND "impersonator_id" IS NULL;
  UPDATE "identity"."activity_entries" SET "ip_address" = NULL, "user_agent" = NULL
  WHERE "impersonator_id" = OLD."id";
  UPDATE "identity"."activity_entries" SET "changes" = NULL
  WHERE ("subject_id" = OLD."id" OR ("user_id" = OLD."id" AND "subject_id" IS NULL))
    AND "changes" IS NOT NULL AND "action" IN (
      'profile_updated', 'email_changed', 'email_restored', 'device_renamed', 'user_updated', 'user_deactivated');
  RETURN NULL;
END $$;
