-- Custom fields of contacts: a tenant declares them, and contacts have their values by key in `custom`.

CREATE TABLE "tenant_crm"."custom_fields" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "key" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "choices" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_filterable" BOOLEAN NOT NULL DEFAULT false,
    "is_required" BOOLEAN NOT NULL DEFAULT false,
    "position" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "custom_fields_pkey" PRIMARY KEY ("tenant_id","id")
);
SELECT tenant_crm.distribute('tenant_crm.custom_fields');

-- A deleted field keeps its key until the last of its values is removed.
CREATE UNIQUE INDEX custom_fields_key_key ON tenant_crm.custom_fields (tenant_id, key);
CREATE INDEX custom_fields_by_position ON tenant_crm.custom_fields (tenant_id, position, id)
  WHERE deleted_at IS NULL;
CREATE INDEX custom_fields_by_type ON tenant_crm.custom_fields (tenant_id, type)
  WHERE deleted_at IS NULL;
-- The fields whose values are to be removed, of all tenants.
CREATE INDEX custom_fields_deleted ON tenant_crm.custom_fields (deleted_at) WHERE deleted_at IS NOT NULL;

SELECT tenant_crm.protect('tenant_crm.custom_fields');

-- The texts in a JSON object.
CREATE FUNCTION tenant_crm.texts_of(object jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT array_agg(value #>> '{}') FROM jsonb_each(object) WHERE jsonb_typeof(value) = 'string');

-- The view has all columns, and the search index is on one that is made again.
DROP VIEW tenant_rows.contacts;
ALTER TABLE tenant_crm.contacts ADD COLUMN "custom" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE tenant_crm.contacts DROP COLUMN "search_text";
ALTER TABLE tenant_crm.contacts ADD COLUMN "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
  tenant_crm.search_text(
    ARRAY[first_name || coalesce(' ' || last_name, ''), email, phone, title]
      || tags || tenant_crm.texts_in(emails, 'email') || tenant_crm.texts_in(phones, 'phone')
      || tenant_crm.texts_of(custom)
  )
) STORED;
-- The index of the search also finds contacts by tags and by values of custom fields.
SELECT tenant_crm.index_search('tenant_crm.contacts', 'tags', 'custom jsonb_path_ops');
SELECT tenant_crm.protect('tenant_crm.contacts');
