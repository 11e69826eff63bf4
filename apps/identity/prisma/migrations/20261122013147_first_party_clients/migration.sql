-- AlterTable
ALTER TABLE "identity"."oauth_clients" ADD COLUMN     "is_first_party" BOOLEAN NOT NULL DEFAULT false;

-- The platform's own clients, which identity.md names.
UPDATE "identity"."oauth_clients" SET "is_first_party" = true
  WHERE "client_id" IN ('admin-panel', 'mobile-app') AND "tenant_id" IS NULL;

-- A tenant's client never acts for the whole platform (decision I19).
ALTER TABLE "identity"."oauth_clients" ADD CONSTRAINT "oauth_clients_of_tenants_are_not_first_party"
  CHECK ("tenant_id" IS NULL OR NOT "is_first_party");

-- Tokens that are issued without a client carry this id: a client with it would take them over.
ALTER TABLE "identity"."oauth_clients" ADD CONSTRAINT "oauth_clients_id_is_not_reserved"
  CHECK ("client_id" <> 'first-party');
