-- Files that clients upload in several requests.

-- CreateTable
CREATE TABLE "tenant_crm"."uploads" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "owner" TEXT NOT NULL,
    "document_id" UUID,
    "metadata" JSONB NOT NULL,
    "size" BIGINT,
    "received" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "result_id" UUID,

    CONSTRAINT "uploads_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.uploads');
SELECT tenant_crm.protect('tenant_crm.uploads');

-- CreateTable
CREATE TABLE "tenant_crm"."upload_parts" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "upload_id" UUID NOT NULL,
    "start" BIGINT NOT NULL,
    "size" BIGINT NOT NULL,
    "sealed_key" BYTEA,

    CONSTRAINT "upload_parts_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.upload_parts');

ALTER TABLE tenant_crm.upload_parts ADD CONSTRAINT upload_parts_upload_id_fkey
  FOREIGN KEY (tenant_id, upload_id) REFERENCES tenant_crm.uploads (tenant_id, id);

CREATE UNIQUE INDEX upload_parts_upload_id_start_key
  ON tenant_crm.upload_parts (tenant_id, upload_id, start);
SELECT tenant_crm.protect('tenant_crm.upload_parts');

-- The usage counts a content for each reference to it.
UPDATE tenant_crm.file_usage AS usage SET bytes = (
  SELECT coalesce(sum(content.size * content.reference_count), 0)
  FROM tenant_crm.file_contents AS content WHERE content.tenant_id = usage.tenant_id
);
