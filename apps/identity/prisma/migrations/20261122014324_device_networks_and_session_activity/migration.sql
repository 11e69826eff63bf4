-- DropIndex
DROP INDEX "identity"."devices_user_id_user_agent_idx";

-- AlterTable
ALTER TABLE "identity"."devices" ADD COLUMN     "networks" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "identity"."sessions" ADD COLUMN     "is_remembered" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "last_active_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateIndex
CREATE INDEX "devices_user_id_last_used_at_idx" ON "identity"."devices"("user_id", "last_used_at");

-- It is not known which of the existing sessions are remembered: none of them ends for idleness.
UPDATE "identity"."sessions" SET "is_remembered" = true;
