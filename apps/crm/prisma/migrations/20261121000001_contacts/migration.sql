-- CreateTable
CREATE TABLE "tenant_crm"."contacts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "first_name" TEXT NOT NULL,
    "last_name" TEXT,
    "email" TEXT,
    "phone" TEXT,
    "title" TEXT,
    "company_id" UUID,
    "owner_id" UUID,
    "notes" TEXT,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "emails" JSONB NOT NULL DEFAULT '[]',
    "phones" JSONB NOT NULL DEFAULT '[]',
    "addresses" JSONB NOT NULL DEFAULT '[]',
    -- Last name first. A tabulator sorts before the blank of a double name, so that first names never
    -- mix two families. Folded and by code point: the same order on every server. Cut, because an entry
    -- of an index has 2,700 bytes at most.
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (
      left(tenant_crm.search_key(coalesce(last_name || E'\t', '') || first_name), 200)
    ) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(
        ARRAY[first_name || coalesce(' ' || last_name, ''), email, phone, title]
          || tags || tenant_crm.texts_in(emails, 'email') || tenant_crm.texts_in(phones, 'phone')
      )
    ) STORED,

    CONSTRAINT "contacts_pkey" PRIMARY KEY ("id")
);

CREATE INDEX contacts_by_name ON tenant_crm.contacts (tenant_id, sort_name, id)
  WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_email ON tenant_crm.contacts (tenant_id, email, id)
  WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_creation ON tenant_crm.contacts (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_change ON tenant_crm.contacts (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX contacts_by_company ON tenant_crm.contacts (tenant_id, company_id)
  WHERE deleted_at IS NULL AND company_id IS NOT NULL;
CREATE INDEX contacts_by_owner ON tenant_crm.contacts (tenant_id, owner_id)
  WHERE deleted_at IS NULL AND owner_id IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.contacts', 'tags');
SELECT tenant_crm.keep_count('tenant_crm.contacts');
