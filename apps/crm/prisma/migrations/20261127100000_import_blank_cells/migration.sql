-- What blank cells do to the records that an import updates. The previous release ignores it, and keeps their values.

-- AlterTable
ALTER TABLE "tenant_crm"."imports" ADD COLUMN "blank_cells" TEXT NOT NULL DEFAULT 'keep';

-- The view has all columns of its table.
SELECT tenant_crm.protect('tenant_crm.imports');
