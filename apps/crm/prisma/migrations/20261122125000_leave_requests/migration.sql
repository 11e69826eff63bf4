-- Leave requests (decision C9).

-- The exclusion constraint compares UUIDs for equality in a GiST index.
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE TABLE "tenant_crm"."leave_requests" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "first_day" DATE NOT NULL,
    "last_day" DATE NOT NULL,
    "is_first_day_half" BOOLEAN NOT NULL DEFAULT false,
    "is_last_day_half" BOOLEAN NOT NULL DEFAULT false,
    "working_days" DOUBLE PRECISION NOT NULL,
    "reason" TEXT,
    "reviewed_by" UUID,
    "reviewed_at" TIMESTAMPTZ(3),
    "review_comment" TEXT,

    CONSTRAINT "leave_requests_pkey" PRIMARY KEY ("tenant_id","id"),
    CONSTRAINT "leave_requests_last_day_check" CHECK (
      last_day > first_day OR last_day = first_day AND NOT (is_first_day_half AND is_last_day_half)
    )
);
SELECT tenant_crm.distribute('tenant_crm.leave_requests');

-- The approved leaves of a user do not overlap. A half day is the afternoon of the first day or the morning of
-- the last day, so a leave can end at noon and another one begin at noon.
ALTER TABLE tenant_crm.leave_requests ADD CONSTRAINT leave_requests_first_day_excl EXCLUDE USING gist (
  tenant_id WITH =,
  user_id WITH =,
  tsrange(
    first_day + CASE WHEN is_first_day_half THEN interval '12 hours' ELSE interval '0' END,
    last_day + CASE WHEN is_last_day_half THEN interval '12 hours' ELSE interval '1 day' END
  ) WITH &&
) WHERE (deleted_at IS NULL AND status = 'approved');

CREATE INDEX leave_requests_by_first_day ON tenant_crm.leave_requests (tenant_id, first_day, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_last_day ON tenant_crm.leave_requests (tenant_id, last_day, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_creation ON tenant_crm.leave_requests (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_change ON tenant_crm.leave_requests (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_status ON tenant_crm.leave_requests (tenant_id, status, first_day, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_kind ON tenant_crm.leave_requests (tenant_id, kind, first_day, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_user ON tenant_crm.leave_requests (tenant_id, user_id, first_day, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_user_last_day ON tenant_crm.leave_requests (tenant_id, user_id, last_day, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_user_creation ON tenant_crm.leave_requests (tenant_id, user_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leave_requests_by_user_change ON tenant_crm.leave_requests (tenant_id, user_id, updated_at, id)
  WHERE deleted_at IS NULL;
-- For the calendar.
CREATE INDEX leave_requests_by_days ON tenant_crm.leave_requests
  USING gist (tenant_id, daterange(first_day, last_day, '[]'))
  WHERE deleted_at IS NULL AND status IN ('pending', 'approved');

SELECT tenant_crm.keep_count('tenant_crm.leave_requests', 'user_id');
SELECT tenant_crm.protect('tenant_crm.leave_requests');
