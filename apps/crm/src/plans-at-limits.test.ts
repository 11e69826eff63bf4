import pg from 'pg';
import { MAX_TAGS_OF_KIND } from './features/tags/tag-limit.ts';
import { crmDatabase, startCrm, type TestCrm } from './testing/crm.ts';
import { sendPlans } from './testing/partitioned-tables.ts';
import { nodesOf } from './testing/plan-nodes.ts';
import { type ExecutedPlan, type PlanNode, PlanWatch } from './testing/plan-watch.ts';

/** Companies with 40 tags each, one of which is that of many. */
const COMPANIES = 3000;
const FOLDERS = 10_000;
const FIELDS = 100;
const CONTACTS = 3000;
const PARTICIPANTS = 5000;

let crm: TestCrm;
let watch: PlanWatch;
let headers: Record<string, string>;

const fill = async (url: string, tenantId: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const run = (text: string, ...values: unknown[]) => client.query(text, [tenantId, ...values]);
  await run(
    `INSERT INTO tenant_crm.companies (tenant_id, id, name, tags)
     SELECT $1, gen_random_uuid(), 'Company ' || number, ARRAY(
       SELECT 'label ' || (number * 39 + place) % $3::int FROM generate_series(1, 39) AS place
     ) FROM generate_series(1, $2::int) AS number`,
    COMPANIES,
    MAX_TAGS_OF_KIND,
  );
  await run(
    `INSERT INTO tenant_crm.document_folders (tenant_id, id, name, restricted_by)
     SELECT $1, id, 'Folder ' || number, CASE WHEN number % 2 = 0 THEN ARRAY[id] ELSE '{}' END FROM (
       SELECT number, gen_random_uuid() AS id FROM generate_series(1, $2::int) AS number
     ) AS folder`,
    FOLDERS,
  );
  await run(
    `INSERT INTO tenant_crm.custom_fields (tenant_id, id, key, label, type, is_filterable)
     SELECT $1, gen_random_uuid(), 'field_' || number, 'Field', 'text', TRUE
     FROM generate_series(1, $2::int) AS number`,
    FIELDS,
  );
  await run(
    `INSERT INTO tenant_crm.contacts (tenant_id, id, first_name, custom)
     SELECT $1, gen_random_uuid(), 'Ada ' || number, (
       SELECT jsonb_object_agg('field_' || field, 'value ' || number % 50) FROM generate_series(1, $3::int) AS field
     ) FROM generate_series(1, $2::int) AS number`,
    CONTACTS,
    FIELDS,
  );
  await run(
    `WITH channel AS (
       INSERT INTO tenant_crm.channels (tenant_id, id, kind, name)
       VALUES ($1, gen_random_uuid(), 'public', 'General') RETURNING id
     )
     INSERT INTO tenant_crm.channel_participants (tenant_id, id, channel_id, user_id, role)
     SELECT $1, gen_random_uuid(), channel.id, gen_random_uuid(), 'member'
     FROM channel, generate_series(1, $2::int)`,
    PARTICIPANTS,
  );
  // Also moves new entries to their places in the indexes of values, as the server does after a while.
  await client.query('VACUUM ANALYZE');
  await client.end();
};

beforeAll(async () => {
  const url = await crmDatabase();
  await sendPlans(url, {
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_verbose': 'on',
  });
  crm = await startCrm({ DATABASE_URL: url }, { enqueueOnly: true }, ({ pool }) => {
    watch = new PlanWatch(pool);
    return {};
  });
  headers = crm.caller({});
  await fill(url, crm.identity.acme.id);
});
afterAll(() => crm.stop());

const read = (node: PlanNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
/** The rows that the scans of a table returned or skipped. */
const rowsReadOf = (table: string, plans: readonly ExecutedPlan[]): number =>
  plans
    .flatMap(({ plan }) => nodesOf(plan))
    .filter((node) => node['Relation Name'] === table)
    .reduce((sum, node) => sum + read(node), 0);

const plansOf = (path: string) =>
  watch.during(() => crm.http.get(`/api/crm${path}`).set(headers).expect(200));

/** A page, and what is read to find out how a term is found best. */
const PAGE = 1000;

describe('With as many different tags as a tenant can have', () => {
  test.each(['label', 'la', '7', 'label 77', 'qxzqx'])(
    'a search for "%s" reads each tag once for each statement, and compares records with few of them',
    async (term) => {
      const plans = await plansOf(`/companies?search=${encodeURIComponent(term)}`);
      const searches = plans.filter(({ text }) => text.includes('tag_counts'));
      expect(rowsReadOf('tag_counts', plans)).toBeLessThanOrEqual(
        MAX_TAGS_OF_KIND * searches.length,
      );
      // The tags that records are compared with: the most frequent ones.
      const compared = searches
        .flatMap(({ plan }) => nodesOf(plan))
        .filter(
          (node) =>
            node['Node Type'] === 'Limit' &&
            /"Group Key":\["[^"]*tag/.test(JSON.stringify(node)) &&
            // The hits are limited, too, above their tags.
            !JSON.stringify(node).includes('"Relation Name":"companies"'),
        );
      expect(compared.length).toBeGreaterThan(0);
      for (const node of compared) expect(node['Actual Rows']).toBeLessThanOrEqual(50);
      expect(searches.length).toBeLessThanOrEqual(2);
    },
  );

  test('a filter by tag, a tag and the first page without a filter read what they return', async () => {
    for (const path of ['/companies?tag=label%207', '/companies', '/tags/label%207']) {
      const plans = await plansOf(path);
      expect(rowsReadOf('tag_counts', plans)).toBeLessThanOrEqual(10);
      expect(rowsReadOf('companies', plans)).toBeLessThanOrEqual(PAGE);
    }
  });

  test('a page of tags reads each once, and no record', async () => {
    for (const path of ['/tags', '/tags?search=77', '/tags?sort=-count&page=100']) {
      const plans = await plansOf(path);
      expect(rowsReadOf('tag_counts', plans)).toBeLessThanOrEqual(MAX_TAGS_OF_KIND);
      expect(rowsReadOf('companies', plans)).toBe(0);
    }
  });

  test('a record whose tags exist reads only those', async () => {
    const body = { name: 'Acme', tags: ['label 1', 'label 2'] };
    const plans = await watch.during(() =>
      crm.http.post('/api/crm/companies').set(headers).send(body).expect(201),
    );
    expect(rowsReadOf('tag_counts', plans)).toBeLessThanOrEqual(50);
  });
});

test('With as many folders as a tenant can have, a list reads each a few times', async () => {
  for (const path of ['/document-folders', '/document-folders?in_root=true&page=40']) {
    expect(rowsReadOf('document_folders', await plansOf(path))).toBeLessThanOrEqual(3 * FOLDERS);
  }
});

test('With as many custom fields as a tenant can have, pages and filters read what they return', async () => {
  const filters = Array.from({ length: 5 }, (_, n) => `custom.field_${n + 1}=value%207`).join('&');
  for (const path of ['/contacts', `/contacts?${filters}`, '/contacts?search=qxzqx']) {
    expect(rowsReadOf('contacts', await plansOf(path))).toBeLessThanOrEqual(PAGE);
  }
  expect(rowsReadOf('custom_fields', await plansOf('/contacts'))).toBeLessThanOrEqual(2 * FIELDS);
});

test('With as many participants as a channel can have, channels are listed without reading them', async () => {
  const plans = await plansOf('/channels');
  expect(rowsReadOf('channel_participants', plans)).toBeLessThanOrEqual(100);
});
