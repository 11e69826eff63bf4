-- AlterTable
ALTER TABLE "identity"."oauth_clients" ADD COLUMN     "allowed_scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

-- Consent belongs to the user and the client, and not to a session.
ALTER TABLE "identity"."sessions" DROP COLUMN "authorizations";

-- CreateTable
CREATE TABLE "identity"."consents" (
    "user_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "tenant_id" UUID,
    "scopes" TEXT[] NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "consents_pkey" PRIMARY KEY ("user_id","client_id")
);

-- CreateIndex
CREATE INDEX "consents_client_id_idx" ON "identity"."consents"("client_id");

-- CreateIndex
CREATE INDEX "consents_tenant_id_idx" ON "identity"."consents"("tenant_id");

-- AddForeignKey
ALTER TABLE "identity"."consents" ADD CONSTRAINT "consents_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."consents" ADD CONSTRAINT "consents_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "identity"."oauth_clients"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."consents" ADD CONSTRAINT "consents_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Only third-party clients have scopes of their own: the platform's and the tenants' get `api`.
ALTER TABLE "identity"."oauth_clients" ADD CONSTRAINT "oauth_clients_allowed_scopes_are_of_third_parties"
  CHECK (cardinality("allowed_scopes") = 0 OR NOT ("is_first_party" OR "tenant_id" IS NOT NULL));

ALTER TABLE "identity"."consents" ADD CONSTRAINT "consents_allow_something"
  CHECK (cardinality("scopes") > 0);

-- What a user's applications hold, for the user who withdraws their consent.
CREATE INDEX "oauth_artifacts_account_idx" ON "identity"."oauth_artifacts" ((payload->>'accountId'), "client_id")
  WHERE payload ? 'accountId';
