-- CreateTable
CREATE TABLE "identity"."tenant_deployments" (
    "tenant_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'unknown',
    "revision" INTEGER NOT NULL DEFAULT 0,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenant_deployments_pkey" PRIMARY KEY ("tenant_id")
);

-- What follows Prisma cannot say.

ALTER TABLE "identity"."tenant_deployments" ADD CONSTRAINT "tenant_deployments_state_check"
  CHECK ("state" IN ('unknown', 'pending', 'told'));

-- What is due, those first that did not fail: a tenant that automation cannot be asked about holds up nobody.
CREATE INDEX "tenant_deployments_due_idx" ON "identity"."tenant_deployments" ("attempts", "due_at")
  WHERE "due_at" IS NOT NULL;

-- A tenant that deployment automation works on is asked about from the moment of the change.
CREATE FUNCTION "identity"."schedule_deployment"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_worked_on CONSTANT boolean := NEW."status" IN ('provisioning', 'deleting');
BEGIN
  INSERT INTO "identity"."tenant_deployments" ("tenant_id", "due_at")
  VALUES (NEW."id", CASE WHEN is_worked_on THEN now() END)
  ON CONFLICT ("tenant_id") DO UPDATE SET "due_at" = now(), "attempts" = 0 WHERE is_worked_on;
  RETURN NULL;
END $$;
CREATE TRIGGER "tenants_deployment" AFTER INSERT OR UPDATE OF "status"
  ON "identity"."tenants" FOR EACH ROW EXECUTE FUNCTION "identity"."schedule_deployment"();

INSERT INTO "identity"."tenant_deployments" ("tenant_id", "due_at")
SELECT "id", CASE WHEN "status" IN ('provisioning', 'deleting') THEN now() END FROM "identity"."tenants";

-- The list of what is worked on is the one above.
DROP INDEX "identity"."tenants_unsettled_idx";
