-- Stored files, and the documents whose versions they are.

-- CreateTable
CREATE TABLE "tenant_crm"."file_contents" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "sha256" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "reference_count" INTEGER NOT NULL,
    "sealed_key" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "file_contents_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.file_contents');

-- The same bytes are stored once.
CREATE UNIQUE INDEX file_contents_sha256_key ON tenant_crm.file_contents (tenant_id, sha256);
SELECT tenant_crm.protect('tenant_crm.file_contents');

-- CreateTable
CREATE TABLE "tenant_crm"."pending_files" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "abandoned" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pending_files_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.pending_files');
SELECT tenant_crm.protect('tenant_crm.pending_files');

-- CreateTable
CREATE TABLE "tenant_crm"."file_usage" (
    "tenant_id" UUID NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "quota_bytes" BIGINT,

    CONSTRAINT "file_usage_pkey" PRIMARY KEY ("tenant_id")
);

SELECT tenant_crm.distribute('tenant_crm.file_usage');
SELECT tenant_crm.protect('tenant_crm.file_usage');

-- CreateTable
CREATE TABLE "tenant_crm"."documents" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "folder_id" UUID,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "current_version" INTEGER NOT NULL,
    "size" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "content_id" UUID NOT NULL,
    "scan_status" TEXT NOT NULL DEFAULT 'not_scanned',
    "user_id" UUID,
    "deleted_with" UUID,
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(name), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (tenant_crm.search_text(ARRAY[name])) STORED,

    CONSTRAINT "documents_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "documents_scan_status_check"
      CHECK (scan_status IN ('not_scanned', 'pending', 'clean', 'infected'))
);

SELECT tenant_crm.distribute('tenant_crm.documents');

CREATE INDEX documents_by_name ON tenant_crm.documents (tenant_id, sort_name, id)
  WHERE deleted_at IS NULL;
CREATE INDEX documents_by_creation ON tenant_crm.documents (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX documents_by_change ON tenant_crm.documents (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX documents_by_size ON tenant_crm.documents (tenant_id, size, id)
  WHERE deleted_at IS NULL;
CREATE INDEX documents_by_type ON tenant_crm.documents (tenant_id, type, id)
  WHERE deleted_at IS NULL;
-- The documents in a folder, deleted ones included.
CREATE INDEX documents_by_folder ON tenant_crm.documents (tenant_id, folder_id, sort_name, id);
CREATE INDEX documents_deleted_with ON tenant_crm.documents (tenant_id, deleted_with)
  WHERE deleted_with IS NOT NULL;

-- The index of the search also finds documents by tags.
SELECT tenant_crm.index_search('tenant_crm.documents', 'tags');
SELECT tenant_crm.keep_count('tenant_crm.documents', 'folder_id');
SELECT tenant_crm.refer('tenant_crm.documents', 'folder_id', 'tenant_crm.document_folders');
SELECT tenant_crm.protect('tenant_crm.documents');

-- CreateTable
CREATE TABLE "tenant_crm"."document_versions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "document_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "size" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "content_id" UUID NOT NULL,
    "user_id" UUID,

    CONSTRAINT "document_versions_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.document_versions');

ALTER TABLE tenant_crm.document_versions ADD CONSTRAINT document_versions_content_id_fkey
  FOREIGN KEY (tenant_id, content_id) REFERENCES tenant_crm.file_contents (tenant_id, id);

CREATE UNIQUE INDEX document_versions_document_id_number_key
  ON tenant_crm.document_versions (tenant_id, document_id, number);
-- The versions that a content is used by.
CREATE INDEX document_versions_by_content ON tenant_crm.document_versions (tenant_id, content_id);
SELECT tenant_crm.keep_count('tenant_crm.document_versions', 'document_id');
SELECT tenant_crm.refer('tenant_crm.document_versions', 'document_id', 'tenant_crm.documents');
SELECT tenant_crm.protect('tenant_crm.document_versions');
