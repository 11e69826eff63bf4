-- AlterTable
ALTER TABLE "identity"."oauth_artifacts" ADD COLUMN     "session_id" UUID;

-- AlterTable
ALTER TABLE "identity"."sessions" ADD COLUMN     "authenticated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "identity"."signing_keys" ADD COLUMN     "retired_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "identity"."system_applications" ADD COLUMN     "is_resource_server" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "identity"."tokens" ADD COLUMN     "kid" TEXT;

-- Codes and refresh tokens have a session; the tokens of services, of which there are many more, have none.
CREATE INDEX "oauth_artifacts_session_id_idx" ON "identity"."oauth_artifacts" ("session_id")
  WHERE "session_id" IS NOT NULL;

UPDATE "identity"."oauth_artifacts" SET "session_id" = ("payload"->>'sessionUid')::uuid
  WHERE "model" IN ('AuthorizationCode', 'RefreshToken');

UPDATE "identity"."sessions" SET "authenticated_at" = "created_at";

-- A token that came out of another one of a client, or of an administrator's session, did not end with it.
-- Those that exist do not know where they belong: they end here.
UPDATE "identity"."tokens" SET "revoked_at" = now()
  WHERE "revoked_at" IS NULL
    AND ("use" = 'impersonation' OR ("use" = 'switch' AND "client_id" <> 'first-party'));
