-- AlterTable
ALTER TABLE "identity"."tokens" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3);

-- What follows Prisma cannot say: the rules that keep the data true whoever writes them.

-- Only keys are sampled: the other tokens of people say enough by when they were issued.
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_keys_have_uses"
  CHECK ("last_used_at" IS NULL OR "use" = 'api_key');
-- The keys of an account, newest first, without what else there is of tokens.
CREATE INDEX "tokens_api_keys_idx" ON "identity"."tokens" ("user_id", "id" DESC)
  WHERE "use" = 'api_key';
