-- The tree of document folders, and their members.

-- CreateTable
CREATE TABLE "tenant_crm"."document_folders" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "parent_id" UUID,
    "name" TEXT NOT NULL,
    "restricted_by" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "deleted_with" UUID,
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(name), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (tenant_crm.search_text(ARRAY[name])) STORED,

    CONSTRAINT "document_folders_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.document_folders');

CREATE UNIQUE INDEX document_folders_parent_id_name_key
  ON tenant_crm.document_folders (tenant_id, parent_id, name) NULLS NOT DISTINCT
  WHERE deleted_at IS NULL;
CREATE INDEX document_folders_by_name ON tenant_crm.document_folders (tenant_id, sort_name, id)
  WHERE deleted_at IS NULL;
CREATE INDEX document_folders_by_creation ON tenant_crm.document_folders (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX document_folders_by_change ON tenant_crm.document_folders (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
-- The folders in a folder, deleted ones included.
CREATE INDEX document_folders_by_parent
  ON tenant_crm.document_folders (tenant_id, parent_id, sort_name, id);
-- The folders that only members see; deleted ones stay hidden.
CREATE INDEX document_folders_restricted ON tenant_crm.document_folders (tenant_id, id)
  WHERE restricted_by <> '{}';
-- What was deleted together with a folder.
CREATE INDEX document_folders_deleted_with ON tenant_crm.document_folders (tenant_id, deleted_with)
  WHERE deleted_with IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.document_folders');
SELECT tenant_crm.keep_count('tenant_crm.document_folders');
SELECT tenant_crm.refer('tenant_crm.document_folders', 'parent_id', 'tenant_crm.document_folders');
SELECT tenant_crm.protect('tenant_crm.document_folders');

-- CreateTable
CREATE TABLE "tenant_crm"."document_folder_members" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "folder_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "access" TEXT NOT NULL,

    CONSTRAINT "document_folder_members_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "document_folder_members_access_check" CHECK (access IN ('read', 'write'))
);

SELECT tenant_crm.distribute('tenant_crm.document_folder_members');

CREATE UNIQUE INDEX document_folder_members_folder_id_user_id_key
  ON tenant_crm.document_folder_members (tenant_id, folder_id, user_id);
CREATE INDEX document_folder_members_by_creation
  ON tenant_crm.document_folder_members (tenant_id, folder_id, created_at, id);
-- The folders of a user.
CREATE INDEX document_folder_members_by_user
  ON tenant_crm.document_folder_members (tenant_id, user_id, folder_id);

SELECT tenant_crm.keep_count('tenant_crm.document_folder_members', 'folder_id');
SELECT tenant_crm.refer('tenant_crm.document_folder_members', 'folder_id', 'tenant_crm.document_folders');
SELECT tenant_crm.protect('tenant_crm.document_folder_members');
