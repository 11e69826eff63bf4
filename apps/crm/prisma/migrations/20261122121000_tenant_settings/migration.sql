-- The settings of tenants (decision C23): one row for each tenant that has changed one.
CREATE TABLE tenant_crm.tenant_settings (
  tenant_id uuid NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- Setting -> value; a setting that is missing has its default.
  settings jsonb NOT NULL DEFAULT '{}',
  CONSTRAINT tenant_settings_pkey PRIMARY KEY (tenant_id)
);

SELECT tenant_crm.distribute('tenant_crm.tenant_settings');
SELECT tenant_crm.protect('tenant_crm.tenant_settings');
