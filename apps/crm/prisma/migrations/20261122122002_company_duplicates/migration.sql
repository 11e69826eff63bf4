-- Finds companies with the same domain or tax number: generated columns with the normalized values, and an index
-- on each, in which companies of a group stand side by side.

CREATE FUNCTION tenant_crm.domain_key(domain text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(lower(domain), '^www\.', '');

CREATE FUNCTION tenant_crm.tax_number_key(tax_number text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN nullif(upper(regexp_replace(tax_number, '[^[:alnum:]]', '', 'g')), '');

-- AlterTable
ALTER TABLE "tenant_crm"."companies"
  ADD COLUMN "domain_key" TEXT COLLATE "C" GENERATED ALWAYS AS (tenant_crm.domain_key(domain)) STORED,
  ADD COLUMN "tax_number_key" TEXT COLLATE "C" GENERATED ALWAYS AS (tenant_crm.tax_number_key(tax_number)) STORED;

CREATE INDEX companies_by_domain_key ON tenant_crm.companies (tenant_id, domain_key, id)
  WHERE deleted_at IS NULL AND domain_key IS NOT NULL;
CREATE INDEX companies_by_tax_number_key ON tenant_crm.companies (tenant_id, tax_number_key, id)
  WHERE deleted_at IS NULL AND tax_number_key IS NOT NULL;

SELECT tenant_crm.protect('tenant_crm.companies');
