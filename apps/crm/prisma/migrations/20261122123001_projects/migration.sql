-- Projects and their members.

-- CreateTable
CREATE TABLE "tenant_crm"."projects" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "description" TEXT,
    "status" TEXT NOT NULL DEFAULT 'planned',
    "start_date" DATE,
    "due_date" DATE,
    "owner_id" UUID,
    "company_id" UUID,
    "is_private" BOOLEAN NOT NULL DEFAULT false,
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(name), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[key, name])
    ) STORED,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "projects_status_check"
      CHECK (status IN ('planned', 'active', 'on_hold', 'completed', 'cancelled')),
    CONSTRAINT "projects_due_date_check" CHECK (due_date >= start_date)
);

SELECT tenant_crm.distribute('tenant_crm.projects');

CREATE UNIQUE INDEX projects_key_key ON tenant_crm.projects (tenant_id, key)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_name ON tenant_crm.projects (tenant_id, sort_name, id)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_status ON tenant_crm.projects (tenant_id, status, id)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_start ON tenant_crm.projects (tenant_id, start_date, id)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_due_date ON tenant_crm.projects (tenant_id, due_date, id)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_creation ON tenant_crm.projects (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_change ON tenant_crm.projects (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX projects_by_owner ON tenant_crm.projects (tenant_id, owner_id)
  WHERE deleted_at IS NULL AND owner_id IS NOT NULL;
CREATE INDEX projects_by_company ON tenant_crm.projects (tenant_id, company_id)
  WHERE deleted_at IS NULL AND company_id IS NOT NULL;
CREATE INDEX projects_by_privacy ON tenant_crm.projects (tenant_id, is_private, id)
  WHERE deleted_at IS NULL;
-- The projects that are hidden from users who are not members; deleted ones stay hidden.
CREATE INDEX projects_private ON tenant_crm.projects (tenant_id, id) WHERE is_private;

SELECT tenant_crm.index_search('tenant_crm.projects');
SELECT tenant_crm.keep_count('tenant_crm.projects');
SELECT tenant_crm.refer('tenant_crm.projects', 'company_id', 'tenant_crm.companies');
SELECT tenant_crm.protect('tenant_crm.projects');

-- CreateTable
CREATE TABLE "tenant_crm"."project_members" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,

    CONSTRAINT "project_members_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "project_members_role_check" CHECK (role IN ('manager', 'member', 'viewer'))
);

SELECT tenant_crm.distribute('tenant_crm.project_members');

CREATE UNIQUE INDEX project_members_project_id_user_id_key
  ON tenant_crm.project_members (tenant_id, project_id, user_id);
CREATE INDEX project_members_by_creation
  ON tenant_crm.project_members (tenant_id, project_id, created_at, id);
CREATE INDEX project_members_by_role
  ON tenant_crm.project_members (tenant_id, project_id, role, id);
-- The projects of a user.
CREATE INDEX project_members_by_user
  ON tenant_crm.project_members (tenant_id, user_id, project_id);

SELECT tenant_crm.keep_count('tenant_crm.project_members', 'project_id');
SELECT tenant_crm.refer('tenant_crm.project_members', 'project_id', 'tenant_crm.projects');
SELECT tenant_crm.protect('tenant_crm.project_members');
