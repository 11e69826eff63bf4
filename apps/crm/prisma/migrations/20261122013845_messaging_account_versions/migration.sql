-- AlterTable
ALTER TABLE "tenant_crm"."messaging_accounts" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;
