-- The history of contacts has the changes of custom fields by key, `custom.<key>`, instead of all values in `custom`.

UPDATE tenant_crm.record_changes
SET changes = changes - 'custom' || (
  SELECT coalesce(jsonb_object_agg('custom.' || key, jsonb_build_array(changes #> ARRAY['custom', '0', key],
    changes #> ARRAY['custom', '1', key])), '{}')
  FROM jsonb_object_keys(coalesce(nullif(changes #> '{custom,0}', 'null'), '{}') ||
    coalesce(nullif(changes #> '{custom,1}', 'null'), '{}')) AS key
  WHERE changes #> ARRAY['custom', '0', key] IS DISTINCT FROM changes #> ARRAY['custom', '1', key]
)
WHERE table_name = 'contacts' AND changes ? 'custom';
