-- CreateTable
CREATE TABLE "tenant_crm"."communication_logs" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "kind" TEXT NOT NULL,
    "direction" TEXT,
    "happened_at" TIMESTAMPTZ(3) NOT NULL,
    "subject" TEXT,
    "body" TEXT,
    "duration_minutes" INTEGER,
    "contact_id" UUID,
    "company_id" UUID,
    "author_id" UUID,
    "author_client_id" TEXT,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[subject, body])
    ) STORED,

    CONSTRAINT "communication_logs_contact_id_check" CHECK (contact_id IS NOT NULL OR company_id IS NOT NULL),
    CONSTRAINT "communication_logs_pkey" PRIMARY KEY ("tenant_id","id")
);

SELECT tenant_crm.distribute('tenant_crm.communication_logs');

CREATE INDEX communication_logs_by_happening ON tenant_crm.communication_logs (tenant_id, happened_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX communication_logs_by_creation ON tenant_crm.communication_logs (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX communication_logs_by_change ON tenant_crm.communication_logs (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX communication_logs_by_kind ON tenant_crm.communication_logs (tenant_id, kind, happened_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX communication_logs_by_direction ON tenant_crm.communication_logs (tenant_id, direction, happened_at, id)
  WHERE deleted_at IS NULL AND direction IS NOT NULL;
CREATE INDEX communication_logs_by_contact ON tenant_crm.communication_logs (tenant_id, contact_id, happened_at, id)
  WHERE deleted_at IS NULL AND contact_id IS NOT NULL;
CREATE INDEX communication_logs_by_company ON tenant_crm.communication_logs (tenant_id, company_id, happened_at, id)
  WHERE deleted_at IS NULL AND company_id IS NOT NULL;
CREATE INDEX communication_logs_by_author ON tenant_crm.communication_logs (tenant_id, author_id, happened_at, id)
  WHERE deleted_at IS NULL AND author_id IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.communication_logs');
SELECT tenant_crm.keep_count('tenant_crm.communication_logs');
SELECT tenant_crm.refer('tenant_crm.communication_logs', 'contact_id', 'tenant_crm.contacts');
SELECT tenant_crm.refer('tenant_crm.communication_logs', 'company_id', 'tenant_crm.companies');
SELECT tenant_crm.protect('tenant_crm.communication_logs');
