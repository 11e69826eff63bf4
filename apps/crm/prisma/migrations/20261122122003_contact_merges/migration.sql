-- Merged contacts, and what is needed to undo each merge.

-- CreateTable
CREATE TABLE "tenant_crm"."contact_merges" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "survivor_id" UUID NOT NULL,
    "merged_id" UUID NOT NULL,
    "merged_at" TIMESTAMPTZ(3) NOT NULL,
    "undone_at" TIMESTAMPTZ(3),
    "moved" JSONB NOT NULL,
    "taken" JSONB NOT NULL,

    CONSTRAINT "contact_merges_pkey" PRIMARY KEY ("tenant_id","id")
);

SELECT tenant_crm.distribute('tenant_crm.contact_merges');

-- A contact is merged into one other at a time.
CREATE UNIQUE INDEX contact_merges_merged_id_key ON tenant_crm.contact_merges (tenant_id, merged_id)
  WHERE undone_at IS NULL;

SELECT tenant_crm.refer('tenant_crm.contact_merges', 'survivor_id', 'tenant_crm.contacts');
SELECT tenant_crm.refer('tenant_crm.contact_merges', 'merged_id', 'tenant_crm.contacts');
SELECT tenant_crm.protect('tenant_crm.contact_merges');
