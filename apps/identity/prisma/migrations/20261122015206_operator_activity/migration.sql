-- What the operator of the platform did, in person or as somebody else: tenants see that, and not who it
-- was or from where. It is kept with the entry, since administrators come and go.
ALTER TABLE "identity"."activity_entries" ADD COLUMN "by_operator" BOOLEAN NOT NULL DEFAULT false;

UPDATE "identity"."activity_entries" e SET "by_operator" = true FROM "identity"."users" u
  WHERE u."id" = e."user_id" AND (e."impersonator_id" IS NOT NULL OR u."is_system_admin");

CREATE FUNCTION "identity"."mark_operator_activity"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."by_operator" := NEW."impersonator_id" IS NOT NULL OR EXISTS (
    SELECT FROM "identity"."users" WHERE "id" = NEW."user_id" AND "is_system_admin");
  RETURN NEW;
END $$;
CREATE TRIGGER "activity_entries_by_operator" BEFORE INSERT ON "identity"."activity_entries"
  FOR EACH ROW EXECUTE FUNCTION "identity"."mark_operator_activity"();
