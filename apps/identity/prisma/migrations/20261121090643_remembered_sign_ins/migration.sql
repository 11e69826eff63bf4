-- AlterTable
ALTER TABLE "identity"."devices" ADD COLUMN     "keeps_cookie" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "identity"."tokens" ADD COLUMN     "remember" BOOLEAN NOT NULL DEFAULT false;
