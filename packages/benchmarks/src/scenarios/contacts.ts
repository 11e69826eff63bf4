import type { Scenario } from '../scenario.ts';
import { besideExpress, type ListPage } from './express.ts';

/** The columns that CRM selects of a contact. */
const COLUMNS = `id, tenant_id AS "tenantId", version, created_at AS "createdAt",
  updated_at AS "updatedAt", deleted_at AS "deletedAt", first_name AS "firstName",
  last_name AS "lastName", email, phone, title, company_id AS "companyId", owner_id AS "ownerId",
  notes, tags, emails, phones, addresses, sort_name AS "sortName"`;

const LIST = `
  SELECT (SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
    WHERE table_name = 'contacts' AND tenant_id = $1::uuid AND scope_column = '' AND scope_id = $1::uuid) AS total, ${COLUMNS}
  FROM tenant_crm.contacts WHERE tenant_id = $1::uuid AND deleted_at IS NULL
  ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`;

const SEARCH = `
  WITH hits AS MATERIALIZED (
    SELECT id, created_at FROM tenant_crm.contacts
    WHERE tenant_id = $1::uuid AND deleted_at IS NULL
      AND search_text LIKE tenant_crm.search_pattern($2) LIMIT 10001
  ), counted AS (
    SELECT count(*)::int AS total FROM hits
  ), page AS (
    SELECT id FROM hits WHERE (SELECT total FROM counted) <= 10000
    ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET (
      SELECT least($4, greatest(total - 1, 0) / $3 * $3) FROM counted)
  )
  SELECT total, ${COLUMNS} FROM counted
  LEFT JOIN tenant_crm.contacts ON tenant_id = $1::uuid AND id = ANY(ARRAY(SELECT id FROM page))
  ORDER BY created_at DESC, id DESC`;

const PER_PAGE = 25;
/** A common name without its accents. */
const TERM = 'kovacs';

/**
 * Checks that both return the same contacts in the same order, and at least one: an empty response would be
 * fast and prove nothing.
 */
const isSamePage = (subject: ListPage, floor: ListPage): boolean => {
  const [ids, expected] = [subject, floor].map(({ data }) =>
    (data as { id: string }[]).map(({ id }) => id).join(),
  );
  return ids !== '' && ids === expected;
};

export const contactList: Scenario = {
  name: 'contacts',
  run: async (bench) => {
    const { crm, system } = bench.system.stack;
    return besideExpress(bench, {
      what: `GET /api/crm/contacts, ${PER_PAGE} of ${bench.options.contacts}`,
      url: `${crm.url}/api/crm/contacts`,
      tokens: [await bench.system.signIn('owner')],
      database: 'crm',
      isEquivalent: isSamePage,
      statement: { text: LIST, values: [system.owner.tenant_id, PER_PAGE, 0] },
      target: 0.6,
    });
  },
};

export const contactSearch: Scenario = {
  name: 'search',
  run: async (bench) => {
    const { crm, system } = bench.system.stack;
    return besideExpress(bench, {
      what: `the same, search=${TERM}`,
      url: `${crm.url}/api/crm/contacts?search=${encodeURIComponent(TERM)}`,
      tokens: [await bench.system.signIn('owner')],
      database: 'crm',
      isEquivalent: isSamePage,
      statement: {
        text: SEARCH,
        values: [system.owner.tenant_id, TERM, PER_PAGE, 0],
        isPlannedEachTime: true,
      },
      target: 0.5,
    });
  },
};
