-- CreateTable
CREATE TABLE "tenant_crm"."companies" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "name" TEXT NOT NULL,
    "domain" TEXT,
    "tax_number" TEXT,
    "email" TEXT,
    "phone" TEXT,
    "industry" TEXT,
    "owner_id" UUID,
    "notes" TEXT,
    "addresses" JSONB NOT NULL DEFAULT '[]',
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(name), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(
        ARRAY[name, domain, tax_number, email, phone, industry] || tenant_crm.texts_in(addresses, 'city')
      )
    ) STORED,

    CONSTRAINT "companies_pkey" PRIMARY KEY ("id")
);

-- What references of the same tenant lead to.
CREATE UNIQUE INDEX "companies_tenant_id_id_key" ON "tenant_crm"."companies" ("tenant_id", "id");

CREATE INDEX companies_by_name ON tenant_crm.companies (tenant_id, sort_name, id)
  WHERE deleted_at IS NULL;
CREATE INDEX companies_by_domain ON tenant_crm.companies (tenant_id, domain, id)
  WHERE deleted_at IS NULL;
CREATE INDEX companies_by_industry ON tenant_crm.companies (tenant_id, industry, id)
  WHERE deleted_at IS NULL;
CREATE INDEX companies_by_creation ON tenant_crm.companies (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX companies_by_change ON tenant_crm.companies (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX companies_by_email ON tenant_crm.companies (tenant_id, email)
  WHERE deleted_at IS NULL AND email IS NOT NULL;
CREATE INDEX companies_by_tax_number ON tenant_crm.companies (tenant_id, tax_number)
  WHERE deleted_at IS NULL AND tax_number IS NOT NULL;
CREATE INDEX companies_by_owner ON tenant_crm.companies (tenant_id, owner_id)
  WHERE deleted_at IS NULL AND owner_id IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.companies');
SELECT tenant_crm.keep_count('tenant_crm.companies');

-- Makes a column name records of the same tenant in another table. A record that is deleted cannot be
-- named any more; what names it already keeps doing so, so that all is as it was when it is restored.
-- Nobody waits: a record that is deleted at the same moment counts as deleted afterwards.
CREATE FUNCTION tenant_crm.refer(referring regclass, field text, referred regclass) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = referring) || '_' || field;
  key text := name || '_fkey';
BEGIN
  EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (tenant_id, %I)
    REFERENCES %s (tenant_id, id)', referring, key, field, referred);
  EXECUTE format($make$
    CREATE FUNCTION tenant_crm.%1$I() RETURNS trigger LANGUAGE plpgsql AS $check$
    BEGIN
      IF (TG_OP = 'INSERT' OR NEW.%2$I IS DISTINCT FROM OLD.%2$I) AND EXISTS (
        SELECT FROM %3$s WHERE tenant_id = NEW.tenant_id AND id = NEW.%2$I AND deleted_at IS NOT NULL
      ) THEN
        RAISE foreign_key_violation USING CONSTRAINT = %4$L, MESSAGE = %5$L;
      END IF;
      RETURN NEW;
    END $check$;
    CREATE TRIGGER %1$I BEFORE INSERT OR UPDATE OF %2$I ON %6$s
      FOR EACH ROW WHEN (NEW.%2$I IS NOT NULL) EXECUTE FUNCTION tenant_crm.%1$I()
    $make$, name, field, referred, key, format('%s is deleted', field), referring);
END $$;

-- Until now these named nothing.
UPDATE tenant_crm.contacts SET company_id = NULL WHERE company_id IS NOT NULL;
SELECT tenant_crm.refer('tenant_crm.contacts', 'company_id', 'tenant_crm.companies');
