-- What is known of a content from reading it: the words of its text, and a thumbnail, which is a content itself.

-- AlterTable
ALTER TABLE "tenant_crm"."file_contents"
  ADD COLUMN "words" TSVECTOR,
  ADD COLUMN "thumbnail_id" UUID;

-- Finds the content of which a content is the thumbnail.
CREATE INDEX file_contents_by_thumbnail ON tenant_crm.file_contents (tenant_id, thumbnail_id)
  WHERE thumbnail_id IS NOT NULL;
ALTER TABLE tenant_crm.file_contents ADD CONSTRAINT file_contents_thumbnail_id_fkey
  FOREIGN KEY (tenant_id, thumbnail_id) REFERENCES tenant_crm.file_contents (tenant_id, id);

-- Lexemes are folded as searches fold. There are no positions: a search of several words does not depend on their order.
CREATE FUNCTION tenant_crm.word_vector(words text[]) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN array_to_tsvector(array_remove(
  string_to_array(tenant_crm.search_key(array_to_string(words, E'\n')), E'\n'), ''
));

-- All of the words, or words that begin with them; words of one or two Latin letters are not beginnings, because too
-- many words begin with these.
CREATE FUNCTION tenant_crm.word_query(words text[]) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
  SELECT string_agg(
    '''' || replace(replace(word, '\', '\\'), '''', '''''') || ''''
      || CASE WHEN octet_length(word) > 2 THEN ':*' ELSE '' END,
    ' & '
  )::tsquery
  FROM unnest(string_to_array(tenant_crm.search_key(array_to_string(words, E'\n')), E'\n')) AS word
  WHERE word <> ''
);

DO $$
BEGIN
  EXECUTE format(
    'CREATE INDEX file_contents_words ON tenant_crm.file_contents USING gin (%s) WHERE words IS NOT NULL',
    CASE WHEN tenant_crm.extension_home('btree_gin') IS NULL THEN 'words' ELSE 'tenant_id, words' END);
END $$;

-- Finds documents by their current contents, which a search of texts begins with.
CREATE INDEX documents_by_content ON tenant_crm.documents (tenant_id, content_id);

SELECT tenant_crm.protect('tenant_crm.file_contents');
