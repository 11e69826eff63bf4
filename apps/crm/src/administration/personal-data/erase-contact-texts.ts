import type pg from 'pg';

/** First and last name of a contact at one time. */
export interface FullName {
  readonly first: string;
  readonly last: string;
}

/** What tells who contacts are, now and formerly. */
export interface ContactTexts {
  /** Their addresses and numbers, and their full names in both orders. */
  readonly texts: readonly string[];
  readonly names: readonly FullName[];
}

/** SQL of whether a text says anything: a dash, for instance, stands for a number or a name that is not known. */
export const isMeant = (text: string) => `${text} ~ '[^[:punct:][:space:]]'`;

/** The names that the contacts have or had: each change leads back to those before it. */
const namesOf = async (
  client: pg.Client,
  tenantId: string,
  ids: readonly string[],
): Promise<readonly FullName[]> => {
  const { rows } = await client.query<{
    first: string;
    last: string | null;
    former: readonly (readonly [first: string | null, last: string | null, hasLast: boolean])[];
  }>(
    `SELECT first_name AS first, last_name AS last, (
       SELECT coalesce(jsonb_agg(jsonb_build_array(
         changes #>> '{first_name,0}', changes #>> '{last_name,0}', jsonb_exists(changes, 'last_name')
       ) ORDER BY version DESC), '[]') FROM tenant_crm.record_changes
       WHERE tenant_id = $1 AND table_name = 'contacts' AND record_id = contact.id
         AND jsonb_exists_any(changes, ARRAY['first_name', 'last_name'])
     ) AS former FROM tenant_crm.contacts AS contact WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
    [tenantId, ids],
  );
  return rows.flatMap(({ former, ...now }) => {
    const names = [now];
    let name = now;
    for (const [first, last, hasLast] of former) {
      name = { first: first ?? name.first, last: hasLast ? last : name.last };
      names.push(name);
    }
    return names.flatMap(({ first, last }) => (last === null ? [] : [{ first, last }]));
  });
};

/**
 * SQL of the values that contacts have or had in a field, as JSON. A merge shows what came from another contact: that one
 * has it as well if it is the same person.
 */
const valuesOf = (field: string) => `
  SELECT to_jsonb(${field}) AS value FROM tenant_crm.contacts
  WHERE tenant_id = $1 AND id = ANY ($2::uuid[])
  UNION ALL
  SELECT value FROM tenant_crm.record_changes
  CROSS JOIN LATERAL jsonb_array_elements(changes -> '${field}') WITH ORDINALITY AS pair (value, place)
  WHERE tenant_id = $1 AND table_name = 'contacts' AND record_id = ANY ($2::uuid[])
    AND NOT (action = 'merge' AND place = 2) AND NOT (action = 'unmerge' AND place = 1)`;

/** The texts under a key of the items of lists. */
const itemsOf = (field: string, key: string) => `
  SELECT item ->> '${key}' FROM (${valuesOf(field)}) AS lists
  CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(value) = 'array' THEN value ELSE '[]' END) AS item`;

/** What tells who the contacts are, now and formerly. */
export const textsOf = async (
  client: pg.Client,
  tenantId: string,
  ids: readonly string[],
): Promise<ContactTexts> => {
  const names = await namesOf(client, tenantId, ids);
  const { rows } = await client.query<{ text: string }>(
    `SELECT DISTINCT text FROM (
       SELECT value #>> '{}' FROM (${valuesOf('email')}) AS emails
       UNION ALL SELECT value #>> '{}' FROM (${valuesOf('phone')}) AS phones
       UNION ALL ${itemsOf('emails', 'email')}
       UNION ALL ${itemsOf('phones', 'phone')}
       UNION ALL SELECT unnest(ARRAY[first || ' ' || last, last || ' ' || first, last || ', ' || first])
       FROM unnest($3::text[], $4::text[]) AS names (first, last) WHERE last <> ''
     ) AS texts (text) WHERE ${isMeant('text')}`,
    [tenantId, ids, names.map(({ first }) => first), names.map(({ last }) => last)],
  );
  return { names, texts: rows.map(({ text }) => text) };
};
