-- Publications that wait for their time: of each article, post or page at most one.

-- CreateTable
CREATE TABLE "tenant_crm"."scheduled_publications" (
    "tenant_id" UUID NOT NULL,
    "content_id" UUID NOT NULL,
    "schedule_id" UUID NOT NULL,
    "table_name" TEXT NOT NULL,
    "publish_at" TIMESTAMPTZ(3) NOT NULL,
    "user_id" UUID,
    "principal" JSONB NOT NULL,

    CONSTRAINT "scheduled_publications_pkey" PRIMARY KEY ("tenant_id", "content_id")
);

SELECT tenant_crm.distribute('tenant_crm.scheduled_publications');
SELECT tenant_crm.protect('tenant_crm.scheduled_publications');

-- The publications of all tenants, to review them after an event of identity.
CREATE FUNCTION tenant_crm.waiting_publications()
RETURNS TABLE (tenant_id uuid, content_id uuid, schedule_id uuid, principal jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, content_id, schedule_id, principal FROM tenant_crm.scheduled_publications
  WHERE tenant_crm.current_tenant() IS NULL
$$;
REVOKE EXECUTE ON FUNCTION tenant_crm.waiting_publications() FROM PUBLIC;
