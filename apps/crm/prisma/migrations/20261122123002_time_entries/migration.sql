-- Time entries (decision C11).

-- The exclusion constraint compares UUIDs for equality in a GiST index.
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- CreateTable
CREATE TABLE "tenant_crm"."time_entries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_id" UUID NOT NULL,
    "project_id" UUID,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "minutes" INTEGER GENERATED ALWAYS AS (
      round(extract(epoch FROM ended_at - started_at) / 60)::integer
    ) STORED,
    "billable" BOOLEAN NOT NULL DEFAULT false,
    "note" TEXT,

    CONSTRAINT "time_entries_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "time_entries_ended_at_check" CHECK (ended_at > started_at)
);

SELECT tenant_crm.distribute('tenant_crm.time_entries');

-- The entries of a user do not overlap. A running timer has no end.
ALTER TABLE tenant_crm.time_entries ADD CONSTRAINT time_entries_started_at_excl EXCLUDE USING gist (
  tenant_id WITH =,
  user_id WITH =,
  tstzrange(started_at, ended_at) WITH &&
) WHERE (deleted_at IS NULL);

-- With the columns that summaries read.
CREATE INDEX time_entries_by_start ON tenant_crm.time_entries (tenant_id, started_at, id)
  INCLUDE (user_id, project_id, minutes, billable)
  WHERE deleted_at IS NULL;
CREATE INDEX time_entries_by_user ON tenant_crm.time_entries (tenant_id, user_id, started_at, id)
  INCLUDE (project_id, minutes, billable)
  WHERE deleted_at IS NULL;
CREATE INDEX time_entries_by_change ON tenant_crm.time_entries (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX time_entries_by_user_change ON tenant_crm.time_entries (tenant_id, user_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX time_entries_by_project ON tenant_crm.time_entries (tenant_id, project_id, started_at, id)
  WHERE deleted_at IS NULL AND project_id IS NOT NULL;
CREATE INDEX time_entries_by_billable ON tenant_crm.time_entries (tenant_id, billable, started_at, id)
  WHERE deleted_at IS NULL;
-- Running timers are those without an end.
CREATE INDEX time_entries_by_end ON tenant_crm.time_entries (tenant_id, ended_at)
  WHERE deleted_at IS NULL;

-- The counts by project are subtracted for callers who cannot see a project.
SELECT tenant_crm.keep_count('tenant_crm.time_entries', 'user_id', 'project_id');
SELECT tenant_crm.refer('tenant_crm.time_entries', 'project_id', 'tenant_crm.projects');
SELECT tenant_crm.protect('tenant_crm.time_entries');
