-- An address belongs to the person who confirmed it; until then anybody may claim it (decision I21).
--
-- People who are there without a confirmed address keep everything that is theirs: their account, their
-- memberships and the tenant that they own. They confirm the address, or change it, before they go on.
DROP INDEX "identity"."users_email_key";
CREATE UNIQUE INDEX "users_email_key" ON "identity"."users"("email")
  WHERE NOT "is_service_account" AND "email_verified_at" IS NOT NULL;

-- AlterTable
ALTER TABLE "identity"."one_time_tokens" ADD COLUMN     "first_name" TEXT,
ADD COLUMN     "last_name" TEXT;

-- CreateTable
CREATE TABLE "identity"."registrations" (
    "user_id" UUID NOT NULL,
    "cookie_hash" BYTEA NOT NULL,
    "tenant_name" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "registrations_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "registrations_expires_at_idx" ON "identity"."registrations"("expires_at");

-- AddForeignKey
ALTER TABLE "identity"."registrations" ADD CONSTRAINT "registrations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "identity"."registrations" ADD CONSTRAINT "registrations_cookie_hash_is_digest"
  CHECK (octet_length("cookie_hash") = 32);
