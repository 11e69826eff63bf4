-- The slug under which a tenant's published content can be read without authentication; null while that is off.
-- The view has all columns.
DROP VIEW tenant_rows.tenant_settings;
ALTER TABLE tenant_crm.tenant_settings ADD COLUMN "public_slug" TEXT;
SELECT tenant_crm.protect('tenant_crm.tenant_settings');

CREATE INDEX tenant_settings_by_public_slug ON tenant_crm.tenant_settings (public_slug)
  WHERE public_slug IS NOT NULL;

-- The tenants that stored a slug: more than one if identity gave the slug of a deleted tenant to another one. Every
-- user of the schema may call this, because it returns nothing that public reading does not show.
CREATE FUNCTION tenant_crm.tenants_with_public_slug(slug text) RETURNS TABLE (tenant_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id FROM tenant_crm.tenant_settings
  WHERE public_slug = slug AND tenant_crm.current_tenant() IS NULL
$$;
