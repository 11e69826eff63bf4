-- Only the service may ask across tenants.
REVOKE EXECUTE ON FUNCTION tenant_crm.tenants_with_public_slug(text) FROM PUBLIC;
