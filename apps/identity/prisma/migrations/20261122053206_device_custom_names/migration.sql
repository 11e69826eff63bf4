-- AlterTable
ALTER TABLE "identity"."devices" ADD COLUMN     "custom_name" TEXT;
