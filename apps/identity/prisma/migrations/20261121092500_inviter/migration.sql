-- AlterTable
ALTER TABLE "identity"."one_time_tokens" ADD COLUMN     "inviter_id" UUID;

-- CreateIndex
CREATE INDEX "one_time_tokens_inviter_id_idx" ON "identity"."one_time_tokens"("inviter_id");

-- AddForeignKey
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_inviter_id_fkey" FOREIGN KEY ("inviter_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows Prisma cannot say: the rules that keep the data true whoever writes them.

-- Only invitations are from somebody.
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_inviters_invite"
  CHECK ("inviter_id" IS NULL OR "purpose" = 'invitation');
