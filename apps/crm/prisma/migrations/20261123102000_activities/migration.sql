-- The activity log: one row for each action that is worth an audit, such as publishing. The transaction of the action
-- writes it. Rows are never changed.

-- CreateTable
CREATE TABLE "tenant_crm"."activities" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "action" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" UUID NOT NULL,
    "actor_type" TEXT NOT NULL,
    "user_id" UUID,
    "client_id" TEXT,
    "token_id" TEXT,
    "impersonator_id" TEXT,
    "details" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "activities_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.activities');

CREATE INDEX activities_by_creation ON tenant_crm.activities (tenant_id, created_at, id);
CREATE INDEX activities_by_user ON tenant_crm.activities (tenant_id, user_id, created_at, id);
CREATE INDEX activities_by_impersonator
  ON tenant_crm.activities (tenant_id, impersonator_id, created_at, id)
  WHERE impersonator_id IS NOT NULL;
CREATE INDEX activities_by_action ON tenant_crm.activities (tenant_id, action, created_at, id);
CREATE INDEX activities_by_resource_type
  ON tenant_crm.activities (tenant_id, resource_type, created_at, id);
CREATE INDEX activities_by_resource ON tenant_crm.activities (tenant_id, resource_id, created_at, id);

SELECT tenant_crm.keep_count('tenant_crm.activities');
SELECT tenant_crm.protect('tenant_crm.activities');
