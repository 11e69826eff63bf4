-- CreateTable
CREATE TABLE "tenant_crm"."imports" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "resource" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'uploading',
    "file_name" TEXT,
    "file_size" BIGINT NOT NULL DEFAULT 0,
    "encoding" TEXT NOT NULL,
    "delimiter" TEXT NOT NULL,
    "mapping" JSONB,
    "duplicates" TEXT NOT NULL,
    "dry_run" BOOLEAN NOT NULL,
    "rows_read" INTEGER NOT NULL DEFAULT 0,
    "rows_created" INTEGER NOT NULL DEFAULT 0,
    "rows_updated" INTEGER NOT NULL DEFAULT 0,
    "rows_skipped" INTEGER NOT NULL DEFAULT 0,
    "rows_failed" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "user_id" UUID,
    "principal" JSONB NOT NULL,
    "header" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "imports_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "tenant_crm"."import_chunks" (
    "tenant_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "import_chunks_pkey" PRIMARY KEY ("tenant_id","import_id","number")
);

-- CreateTable
CREATE TABLE "tenant_crm"."import_failures" (
    "tenant_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "row_number" INTEGER NOT NULL,
    "cells" TEXT[] NOT NULL,
    "errors" TEXT[] NOT NULL,

    CONSTRAINT "import_failures_pkey" PRIMARY KEY ("tenant_id","import_id","row_number")
);

SELECT tenant_crm.distribute('tenant_crm.imports');
SELECT tenant_crm.distribute('tenant_crm.import_chunks');
SELECT tenant_crm.distribute('tenant_crm.import_failures');

CREATE INDEX imports_by_created_at ON tenant_crm.imports (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX imports_by_status ON tenant_crm.imports (tenant_id, status, id)
  WHERE deleted_at IS NULL;
CREATE INDEX imports_by_resource ON tenant_crm.imports (tenant_id, resource, id)
  WHERE deleted_at IS NULL;

SELECT tenant_crm.keep_count('tenant_crm.imports');
SELECT tenant_crm.protect('tenant_crm.imports');
SELECT tenant_crm.protect('tenant_crm.import_chunks');
SELECT tenant_crm.protect('tenant_crm.import_failures');
