-- An event about a person, a client or a token concerns publications of any tenant.
CREATE INDEX scheduled_publications_by_principal
  ON tenant_crm.scheduled_publications ((principal ->> 'id'));
CREATE INDEX scheduled_publications_by_impersonator
  ON tenant_crm.scheduled_publications ((principal ->> 'impersonator_id'))
  WHERE principal ->> 'impersonator_id' IS NOT NULL;
CREATE INDEX scheduled_publications_by_token
  ON tenant_crm.scheduled_publications ((principal ->> 'token_id'))
  WHERE principal ->> 'token_id' IS NOT NULL;

-- The waiting publications that a person, a client or a token has scheduled, after one of them and at most so many.
CREATE FUNCTION tenant_crm.publications_scheduled_by(
  scheduler text, after_tenant uuid, after_content uuid, most integer
)
RETURNS TABLE (tenant_id uuid, content_id uuid, schedule_id uuid, principal jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant_id, content_id, schedule_id, principal FROM tenant_crm.scheduled_publications
  WHERE tenant_crm.current_tenant() IS NULL
    AND (principal ->> 'id' = scheduler OR principal ->> 'impersonator_id' = scheduler
      OR principal ->> 'token_id' = scheduler)
    AND (tenant_id, content_id) > (after_tenant, after_content)
  ORDER BY tenant_id, content_id LIMIT most
$$;
REVOKE EXECUTE ON FUNCTION tenant_crm.publications_scheduled_by(text, uuid, uuid, integer) FROM PUBLIC;
