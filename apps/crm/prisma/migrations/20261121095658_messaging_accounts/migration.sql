-- CreateTable
CREATE TABLE "tenant_crm"."messaging_accounts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "channel" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "settings" JSONB NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "sealed_credentials" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messaging_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "messaging_accounts_tenant_id_channel_name_key" ON "tenant_crm"."messaging_accounts"("tenant_id", "channel", "name");

-- What follows Prisma cannot say.
ALTER TABLE "tenant_crm"."messaging_accounts" ADD CONSTRAINT "messaging_accounts_channel_known"
  CHECK ("channel" IN ('email', 'sms'));
