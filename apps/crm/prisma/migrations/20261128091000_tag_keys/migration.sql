-- tag_key(tag): what tags are compared by. Tags are one whatever their case and Unicode form. Upper case comes first, because it
-- is the same for both forms of the Greek sigma.
CREATE FUNCTION tenant_crm.tag_key(tag text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN replace(lower(upper(normalize(tag))), 'ß', 'ss');

-- A column, because row-level security does not let an index of the expression be used. A tenant has few tags, so that the table
-- is written again quickly.
-- squawk-ignore adding-field-with-default
ALTER TABLE tenant_crm.tag_counts ADD COLUMN tag_key text GENERATED ALWAYS AS (tenant_crm.tag_key(tag)) STORED;
SELECT tenant_crm.protect('tenant_crm.tag_counts');

-- The tags of documents are found by their kept counts, too, which know how each tag is written.
SELECT tenant_crm.keep_tag_counts('tenant_crm.documents');

-- A record keeps the first of several spellings, so that each record counts once for a tag.
DO $$
DECLARE
  tagged text;
BEGIN
  FOREACH tagged IN ARRAY ARRAY['contacts', 'companies', 'documents', 'kb_articles', 'blog_posts', 'pages'] LOOP
    EXECUTE format(
      'UPDATE tenant_crm.%I AS record SET tags = spelled.tags, version = version + 1
       FROM (
         SELECT one.tenant_id, one.id, ARRAY(
           SELECT tag FROM unnest(one.tags) WITH ORDINALITY AS of_record (tag, place)
           GROUP BY tag, place
           HAVING place = (
             SELECT min(other.place) FROM unnest(one.tags) WITH ORDINALITY AS other (tag, place)
             WHERE tenant_crm.tag_key(other.tag) = tenant_crm.tag_key(of_record.tag)
           ) ORDER BY place
         ) AS tags
         FROM tenant_crm.%1$I AS one WHERE cardinality(one.tags) > 1
       ) AS spelled
       WHERE record.tenant_id = spelled.tenant_id AND record.id = spelled.id AND record.tags <> spelled.tags',
      tagged);
  END LOOP;
END $$;
