-- The object that has the bytes of a content: a repeated upload replaces one that is missing or not encrypted.

-- AlterTable
ALTER TABLE "tenant_crm"."file_contents"
  ADD COLUMN "object_id" UUID,
  ADD COLUMN "type" TEXT,
  ADD COLUMN "scan_status" TEXT NOT NULL DEFAULT 'not_scanned';

UPDATE tenant_crm.file_contents AS content SET object_id = content.id, type = (
  SELECT version.type FROM tenant_crm.document_versions AS version
  WHERE version.tenant_id = content.tenant_id AND version.content_id = content.id LIMIT 1
);
ALTER TABLE tenant_crm.file_contents ALTER COLUMN object_id SET NOT NULL;
ALTER TABLE tenant_crm.file_contents ADD CONSTRAINT file_contents_scan_status_check
  CHECK (scan_status IN ('not_scanned', 'pending', 'clean', 'infected'));

-- Finds the content of an object.
CREATE UNIQUE INDEX file_contents_object_id_key ON tenant_crm.file_contents (tenant_id, object_id);
SELECT tenant_crm.protect('tenant_crm.file_contents');
