-- What others add to a message, which changes its entity tag but is no conflict for its author. The previous release ignores
-- it, and makes a new version instead: while both run, it may answer If-None-Match with 304 although a reaction was added.

-- AlterTable
ALTER TABLE "tenant_crm"."messages" ADD COLUMN "revision" BIGINT NOT NULL DEFAULT 0;

-- The view has all columns of its table.
SELECT tenant_crm.protect('tenant_crm.messages');
