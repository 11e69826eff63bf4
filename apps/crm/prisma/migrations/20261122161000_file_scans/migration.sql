-- What the scan for malware found in a content. A content that the scanner cannot scan is not served either.

-- AlterTable
ALTER TABLE "tenant_crm"."file_contents"
  ADD COLUMN "scan_finding" TEXT,
  ADD COLUMN "scanned_at" TIMESTAMPTZ(3),
  DROP CONSTRAINT file_contents_scan_status_check,
  ADD CONSTRAINT file_contents_scan_status_check
    CHECK (scan_status IN ('not_scanned', 'pending', 'clean', 'infected', 'unscannable'));

ALTER TABLE tenant_crm.documents
  DROP CONSTRAINT documents_scan_status_check,
  ADD CONSTRAINT documents_scan_status_check
    CHECK (scan_status IN ('not_scanned', 'pending', 'clean', 'infected', 'unscannable'));

CREATE INDEX documents_by_scan_status ON tenant_crm.documents (tenant_id, scan_status, id)
  WHERE deleted_at IS NULL;
