-- The times of the jobs that wait for retries are kept apart from `wake_at`, so that a job which runs earlier does not forget
-- them. The previous release ignores them, and may note a time of its own in `wake_at`.

-- AlterTable
ALTER TABLE "tenant_crm"."webhook_endpoints" ADD COLUMN "later_wakes" TIMESTAMPTZ(3)[];

-- The view has all columns of its table.
SELECT tenant_crm.protect('tenant_crm.webhook_endpoints');
