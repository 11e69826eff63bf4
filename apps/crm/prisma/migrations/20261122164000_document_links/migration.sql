-- Expiring links to documents.

-- CreateTable
CREATE TABLE "tenant_crm"."document_links" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "document_id" UUID NOT NULL,
    "version_number" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "user_type" TEXT NOT NULL,
    "key_id" TEXT,

    CONSTRAINT "document_links_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "document_links_user_type_check" CHECK (user_type IN ('user', 'service_account'))
);

SELECT tenant_crm.distribute('tenant_crm.document_links');

CREATE INDEX document_links_by_creation
  ON tenant_crm.document_links (tenant_id, document_id, created_at, id);
CREATE INDEX document_links_by_expiry
  ON tenant_crm.document_links (tenant_id, document_id, expires_at, id);

SELECT tenant_crm.keep_count('tenant_crm.document_links', 'document_id');
SELECT tenant_crm.refer('tenant_crm.document_links', 'document_id', 'tenant_crm.documents');
SELECT tenant_crm.protect('tenant_crm.document_links');
