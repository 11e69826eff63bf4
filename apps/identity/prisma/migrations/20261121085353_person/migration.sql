-- AlterTable
ALTER TABLE "identity"."sessions" ADD COLUMN     "amr" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "authorizations" JSONB,
ADD COLUMN     "device_id" UUID,
ADD COLUMN     "pin_pending" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "identity"."tokens" ADD COLUMN     "grant_id" TEXT,
ADD COLUMN     "name" TEXT,
ADD COLUMN     "replaced_by_id" UUID;

-- AlterTable
ALTER TABLE "identity"."users" ADD COLUMN     "force_password_change" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "password_changed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "identity"."previous_passwords" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "previous_passwords_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."two_factors" (
    "user_id" UUID NOT NULL,
    "sealed_secret" BYTEA NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "last_step" BIGINT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "locked_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "two_factors_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "identity"."recovery_codes" (
    "user_id" UUID NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("user_id","code_hash")
);

-- CreateTable
CREATE TABLE "identity"."pins" (
    "user_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "locked_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pins_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "identity"."devices" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "browser" TEXT NOT NULL,
    "os" TEXT NOT NULL,
    "user_agent" TEXT,
    "ip_address" TEXT,
    "trusted_until" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "devices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."one_time_tokens" (
    "token_hash" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "user_id" UUID,
    "email" TEXT NOT NULL,
    "tenant_id" UUID,
    "role_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_tokens_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "identity"."outbox_mails" (
    "id" UUID NOT NULL,
    "sealed_message" BYTEA NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_mails_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "previous_passwords_user_id_id_idx" ON "identity"."previous_passwords"("user_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "devices_secret_hash_key" ON "identity"."devices"("secret_hash");

-- CreateIndex
CREATE INDEX "devices_user_id_user_agent_idx" ON "identity"."devices"("user_id", "user_agent");

-- CreateIndex
CREATE INDEX "devices_last_used_at_idx" ON "identity"."devices"("last_used_at");

-- CreateIndex
CREATE INDEX "one_time_tokens_user_id_purpose_idx" ON "identity"."one_time_tokens"("user_id", "purpose");

-- CreateIndex
CREATE INDEX "one_time_tokens_tenant_id_idx" ON "identity"."one_time_tokens"("tenant_id");

-- CreateIndex
CREATE INDEX "one_time_tokens_role_id_idx" ON "identity"."one_time_tokens"("role_id");

-- CreateIndex
CREATE INDEX "one_time_tokens_expires_at_idx" ON "identity"."one_time_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "outbox_mails_next_attempt_at_idx" ON "identity"."outbox_mails"("next_attempt_at");

-- CreateIndex
CREATE INDEX "sessions_device_id_idx" ON "identity"."sessions"("device_id");

-- CreateIndex
CREATE INDEX "tokens_grant_id_idx" ON "identity"."tokens"("grant_id");

-- AddForeignKey
ALTER TABLE "identity"."sessions" ADD CONSTRAINT "sessions_device_id_fkey" FOREIGN KEY ("device_id") REFERENCES "identity"."devices"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."previous_passwords" ADD CONSTRAINT "previous_passwords_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."two_factors" ADD CONSTRAINT "two_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."pins" ADD CONSTRAINT "pins_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."devices" ADD CONSTRAINT "devices_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "identity"."roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows Prisma cannot say: the rules that keep the data true whoever writes them.

-- Closed sets
ALTER TABLE "identity"."tokens" DROP CONSTRAINT "tokens_use_known";
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_use_known"
  CHECK ("use" IN ('login', 'switch', 'api_key', 'code', 'impersonation', 'two_factor'));
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_purpose_known"
  CHECK ("purpose" IN ('password_reset', 'email_verification', 'invitation'));
ALTER TABLE "identity"."sessions" ALTER COLUMN "amr" SET NOT NULL;

-- A replaced token is revoked: nothing that is good can be reused.
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_replaced_are_revoked"
  CHECK ("replaced_by_id" IS NULL OR "revoked_at" IS NOT NULL);

-- An invitation leads into a tenant with a role; what is not an invitation belongs to a user.
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_whole"
  CHECK (CASE "purpose"
    WHEN 'invitation' THEN "tenant_id" IS NOT NULL AND "role_id" IS NOT NULL
    ELSE "user_id" IS NOT NULL AND "tenant_id" IS NULL AND "role_id" IS NULL END);

-- Only SHA-256 digests: a secret stored as it is would not fit.
ALTER TABLE "identity"."recovery_codes" ADD CONSTRAINT "recovery_codes_code_hash_is_digest"
  CHECK (octet_length("code_hash") = 32);
ALTER TABLE "identity"."devices" ADD CONSTRAINT "devices_secret_hash_is_digest"
  CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_token_hash_is_digest"
  CHECK (octet_length("token_hash") = 32);
