-- CreateTable
CREATE TABLE "identity"."reserved_slugs" (
    "slug" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reserved_slugs_pkey" PRIMARY KEY ("slug")
);

-- CreateIndex
CREATE INDEX "reserved_slugs_deleted_at_idx" ON "identity"."reserved_slugs"("deleted_at");
