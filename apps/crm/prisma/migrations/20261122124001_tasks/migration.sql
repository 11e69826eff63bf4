-- Tasks, and their order in the columns of boards.

-- CreateTable
CREATE TABLE "tenant_crm"."tasks" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "project_id" UUID,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "status" TEXT NOT NULL DEFAULT 'todo',
    "priority" TEXT NOT NULL DEFAULT 'normal',
    "due_date" DATE,
    "assignee_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "contact_id" UUID,
    "company_id" UUID,
    "creator_id" UUID,
    "creator_client_id" TEXT,
    "completed_at" TIMESTAMPTZ(3),
    -- The place in the column. Compared by byte, because the ranks are made for that order.
    "rank" TEXT COLLATE "C" NOT NULL,
    "priority_order" SMALLINT GENERATED ALWAYS AS (
      array_position(ARRAY['low', 'normal', 'high', 'urgent'], priority)
    ) STORED,
    "sort_title" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(title), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[title, description])
    ) STORED,

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "tasks_status_check" CHECK (status IN ('todo', 'in_progress', 'review', 'done')),
    CONSTRAINT "tasks_priority_check" CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    CONSTRAINT "tasks_completed_at_check" CHECK ((status = 'done') = (completed_at IS NOT NULL))
);

SELECT tenant_crm.distribute('tenant_crm.tasks');

-- The columns of boards in their order; no two tasks are in one place. Tasks without a project have columns, too.
CREATE UNIQUE INDEX tasks_project_id_status_rank_key
  ON tenant_crm.tasks (tenant_id, project_id, status, rank) NULLS NOT DISTINCT
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_creation ON tenant_crm.tasks (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_change ON tenant_crm.tasks (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_completion ON tenant_crm.tasks (tenant_id, completed_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_due_date ON tenant_crm.tasks (tenant_id, due_date, id)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_priority ON tenant_crm.tasks (tenant_id, priority_order, id)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_title ON tenant_crm.tasks (tenant_id, sort_title, id)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_status ON tenant_crm.tasks (tenant_id, status)
  WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_contact ON tenant_crm.tasks (tenant_id, contact_id)
  WHERE deleted_at IS NULL AND contact_id IS NOT NULL;
CREATE INDEX tasks_by_company ON tenant_crm.tasks (tenant_id, company_id)
  WHERE deleted_at IS NULL AND company_id IS NOT NULL;
CREATE INDEX tasks_by_creator ON tenant_crm.tasks (tenant_id, creator_id)
  WHERE deleted_at IS NULL AND creator_id IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.tasks', 'assignee_ids');
-- By project, for the totals of callers who do not see all projects.
SELECT tenant_crm.keep_count('tenant_crm.tasks', 'project_id');
SELECT tenant_crm.refer('tenant_crm.tasks', 'project_id', 'tenant_crm.projects');
SELECT tenant_crm.refer('tenant_crm.tasks', 'contact_id', 'tenant_crm.contacts');
SELECT tenant_crm.refer('tenant_crm.tasks', 'company_id', 'tenant_crm.companies');
SELECT tenant_crm.protect('tenant_crm.tasks');
