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
