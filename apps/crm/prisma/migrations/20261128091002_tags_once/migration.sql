-- A record keeps the first of several spellings of a tag, so that it counts once for it. In batches, each a transaction of its
-- own. Only few records change; it can be repeated at any time.
DO $$
DECLARE
  tagged text;
  tenant uuid;
  first uuid;
  last uuid;
BEGIN
  FOREACH tagged IN ARRAY ARRAY['contacts', 'companies', 'documents', 'kb_articles', 'blog_posts', 'pages'] LOOP
    FOR tenant IN EXECUTE format('SELECT DISTINCT tenant_id FROM tenant_crm.%I', tagged) LOOP
      first := '00000000-0000-0000-0000-000000000000';
      LOOP
        EXECUTE format(
          'SELECT id FROM tenant_crm.%I WHERE tenant_id = $1 AND id > $2 ORDER BY id OFFSET 4999 LIMIT 1', tagged
        ) INTO last USING tenant, first;
        EXECUTE format(
          'UPDATE tenant_crm.%1$I AS record SET tags = spelled.tags, version = version + 1
           FROM (
             SELECT one.id, ARRAY(
               SELECT tag FROM unnest(one.tags) WITH ORDINALITY AS of_record (tag, place)
               WHERE place = (
                 SELECT min(other.place) FROM unnest(one.tags) WITH ORDINALITY AS other (tag, place)
                 WHERE tenant_crm.tag_key(other.tag) = tenant_crm.tag_key(of_record.tag)
               ) ORDER BY place
             ) AS tags
             FROM tenant_crm.%1$I AS one
             WHERE one.tenant_id = $1 AND one.id > $2 AND ($3 IS NULL OR one.id <= $3) AND cardinality(one.tags) > 1
           ) AS spelled
           WHERE record.tenant_id = $1 AND record.id = spelled.id AND record.tags <> spelled.tags',
          tagged
        ) USING tenant, first, last;
        COMMIT;
        EXIT WHEN last IS NULL;
        first := last;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
