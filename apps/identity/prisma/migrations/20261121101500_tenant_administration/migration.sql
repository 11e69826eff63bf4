-- AlterTable
ALTER TABLE "identity"."tenants" ADD COLUMN     "pull_request_url" TEXT,
ADD COLUMN     "scaling" JSONB,
ADD COLUMN     "versions" JSONB NOT NULL DEFAULT '{}';

-- What follows Prisma cannot say.

-- Lists of tenants are sorted by these; ids make the order whole.
CREATE INDEX "tenants_name_id_idx" ON "identity"."tenants" ("name", "id");
CREATE INDEX "tenants_created_at_id_idx" ON "identity"."tenants" ("created_at", "id");

-- The few that something is done with: what looks after them asks every few seconds.
CREATE INDEX "tenants_unsettled_idx" ON "identity"."tenants" ("id")
  WHERE "status" IN ('provisioning', 'deleting');
