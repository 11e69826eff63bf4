import {
  call,
  createResources,
  type Operation,
  operationsOf,
  type Subject,
  validBody,
} from '@tessera/conformance';
import pg from 'pg';
import { document } from './document.ts';
import { eventOf, withoutEvents } from './events/event-types.ts';
import { removeValues } from './features/custom-fields/value-removal.ts';
import { deleteExpiredKeys } from './idempotency/expired-keys.ts';
import { CONTENTS_AS_THUMBNAILS, conformanceSubject } from './testing/conformance-subject.ts';
import { crmDatabase, startCrm, type TestCrm } from './testing/crm.ts';
import { declaredKinds } from './testing/declared-kinds.ts';
import { fillTables } from './testing/many-rows.ts';
import { type MessagingServers, startMessagingServers } from './testing/messaging-servers.ts';
import { sendPlans } from './testing/partitioned-tables.ts';
import { problemsOf } from './testing/plan-rules.ts';
import { type ExecutedPlan, PlanWatch } from './testing/plan-watch.ts';

/** More rows than the offset from which pages are found in the index alone. */
const ROWS = 1300;
/** How many records the test can create in a table with a maximum. */
const ROOM = 10;
const LATER_PAGES = ['page=4&per_page=100', 'page=12&per_page=100', 'page=101&per_page=100'];

const operations = operationsOf(document() as never).filter(
  ({ path, ...operation }) =>
    path.startsWith('/api/crm/') && operation['x-permissions'] !== 'public',
);
/** Streams without an end are not read. */
const reads = operations.filter(
  ({ method, responses }) =>
    method === 'GET' && responses[200]?.content?.['text/event-stream'] === undefined,
);
const changes = operations.filter(({ method }) => method !== 'GET');

const UPLOAD_PATH = '/api/crm/documents/uploads/{upload_id}';
const ATTEMPT_PATH = '/api/crm/webhook-deliveries/{id}/attempts/{attemptId}';

/** Values of parameters that are not filters. */
const known: Readonly<Record<string, string>> = {
  search: 'qxzqx',
  from: '2026-01-01',
  to: '2026-02-01',
  time_zone: 'UTC',
};
/** What later pages require. */
const onLaterPages: Readonly<Record<string, string>> = { getTaskBoard: '&column=todo' };

let crm: TestCrm;
let servers: MessagingServers;
let watch: PlanWatch;
let subject: Subject;
let popular: ReadonlyMap<string, string>;
let owner: Record<string, string>;
let limited: Record<string, string>;

/** Creates a record in each list. */
const createOriginals = async (): Promise<void> => {
  const lists = new Set(reads.map(({ path }) => path));
  // A vote is created by PUT.
  const creates = ({ id, method }: Operation) =>
    method === 'POST' || id === 'updateKbArticleFeedback';
  for (const operation of changes.filter((one) => lists.has(one.path) && creates(one))) {
    const parameters = await createResources(subject, operation.path, 'own', owner);
    const body = await validBody(subject, operation, 'own');
    const headers = { ...owner, 'Idempotency-Key': crypto.randomUUID() };
    const { status, text } = await call(subject, operation, { headers, parameters, body });
    if (status >= 300) throw new Error(`${operation.id}: ${status} ${text}`);
  }
  // No list shows uploads, and requests to receivers of webhooks are made by jobs.
  await createResources(subject, UPLOAD_PATH, 'own', owner);
  await createResources(subject, ATTEMPT_PATH, 'own', owner);
};

beforeAll(async () => {
  const url = await crmDatabase();
  await sendPlans(url, {
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_verbose': 'on',
    // The tables are so small that reading one from end to end is the cheapest plan.
    enable_seqscan: 'off',
    // As if they were larger than what one page has room for.
    random_page_cost: '1',
  });
  servers = await startMessagingServers();
  const environment = { DATABASE_URL: url, ...servers.environment };
  crm = await startCrm(environment, { enqueueOnly: true }, ({ pool }) => {
    watch = new PlanWatch(pool);
    return {};
  });
  const about = conformanceSubject(crm, servers);
  owner = await about.caller('own');
  const lacking = operations
    .flatMap((operation) => operation['x-permissions'] ?? [])
    .filter((name) => /\.(export|review)$/.test(name));
  limited = { ...owner, ...crm.caller({ lacking }) };
  subject = { ...about, document: crm.document, caller: async () => owner };
  await createOriginals();
  const tenantId = crm.identity.acme.id;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(
    `INSERT INTO tenant_crm.import_failures (tenant_id, import_id, row_number, cells, errors)
     SELECT tenant_id, id, 2, '{Ada}', '{}' FROM tenant_crm.imports WHERE tenant_id = $1 ORDER BY id LIMIT 1`,
    [tenantId],
  );
  await admin.query(
    `INSERT INTO tenant_crm.upload_parts (tenant_id, id, upload_id, start, size)
     SELECT tenant_id, gen_random_uuid(), id, 0, 1 FROM tenant_crm.uploads WHERE tenant_id = $1 ORDER BY id LIMIT 1`,
    [tenantId],
  );
  await admin.query(
    `INSERT INTO tenant_crm.activities (tenant_id, id, action, resource_type, resource_id, actor_type, user_id, impersonator_id)
     VALUES ($1, gen_random_uuid(), 'published', 'pages', gen_random_uuid(), 'user', gen_random_uuid(), gen_random_uuid()::text)`,
    [tenantId],
  );
  // Only some imports can wait at the same time.
  await admin.query(`UPDATE tenant_crm.imports SET status = 'completed'`);
  // Only some uploads can be unfinished.
  await admin.query('UPDATE tenant_crm.uploads SET ended_at = now()');
  // Few deliveries fail.
  await admin.query(`UPDATE tenant_crm.webhook_deliveries SET state = 'succeeded'`);
  await admin.query(CONTENTS_AS_THUMBNAILS, [tenantId]);
  await admin.query(
    "UPDATE tenant_crm.file_contents SET words = tenant_crm.word_vector('{sample}')",
  );
  const kinds = await declaredKinds();
  const limits = new Map(
    kinds.flatMap(({ table, maximum }) => (maximum ? [[table, maximum - ROOM]] : [])),
  );
  popular = await fillTables(admin, tenantId, { rows: ROWS, limits });
  // The next chat event must not take the position of an existing one.
  await admin.query(
    `UPDATE tenant_crm.chat_feeds AS feed SET last_position = (
       SELECT max(position) FROM tenant_crm.chat_events WHERE tenant_id = feed.tenant_id)`,
  );
  await admin.end();
});
afterAll(async () => {
  await crm.stop();
  await servers.stop();
});

/** Statements that are meant to read much. */
const isExpected = ({ text }: ExecutedPlan): boolean =>
  // The channels that a caller sees are found first, and searched one by one.
  /\.channels WHERE tenant_id = \$1::uuid AND \(id = ANY\(ARRAY\(/.test(text) ||
  // A tenant has thousands of folders, not millions: those that the caller does not see are read with the others.
  /\.document_folders\s+WHERE tenant_id = \$\d+::uuid (?:AND deleted_at IS NULL )?AND \(?restricted_by/.test(
    text,
  ) ||
  // The numbered slugs of one title are few, but here many records are copies of one.
  /SELECT slug FROM tenant_crm\.\w+\s+WHERE tenant_id = \$1::uuid AND language = \$2\s+AND slug >= /.test(
    text,
  ) ||
  // Values of a deleted field are removed in the order of ids, in the background.
  /jsonb_exists\(custom/.test(text);

/** Whether a problem is that tags are searched among the counts of all tags of the tenant, whose number is limited. */
const isOfTags = ({ text }: ExecutedPlan, problem: string): boolean =>
  / rows of tag_counts\b/.test(problem) && text.includes('strpos(coalesce(search_key,');

/**
 * Whether a problem is one of the small table. Of a search, the planner expects fewer rows than a batch of an export has, and
 * may then sort them; and to read all messages of the tenant may cost as little as those of the caller's channels.
 */
const isOfSmallTable = ({ text }: ExecutedPlan, problem: string): boolean =>
  (problem.startsWith('sorts ') && /strpos\(search_text,.*ORDER BY id LIMIT/s.test(text)) ||
  (/ of messages to find \d+, by messages_search$/.test(problem) &&
    /channel_id = ANY\(ARRAY\(.*strpos\(search_text,/s.test(text));

/** What the plans of a request's statements show; each problem once. */
const problemsIn = async (name: string, work: () => Promise<unknown>): Promise<string[]> => {
  const executed = (await watch.during(work)).filter((one) => !isExpected(one));
  const found = executed.flatMap((one) =>
    problemsOf(one)
      .filter((problem) => !isOfTags(one, problem) && !isOfSmallTable(one, problem))
      .map((problem) => `${name} ${problem}:\n${one.text.trim()}`),
  );
  return [...new Set(found)];
};

/** The path parameters of an operation; records with much that refers to them, where a read begins with one. */
const parametersOf = ({ path, method }: Operation): Promise<Record<string, string>> => {
  const [, collection = ''] = /^\/api\/crm\/([a-z-]+)\/\{id\}[^{]*$/.exec(path) ?? [];
  const id = method === 'GET' ? popular.get(collection.replaceAll('-', '_')) : undefined;
  const within: Subject = {
    ...subject,
    parameters: async (tenant, of) => ({
      ...(await subject.parameters?.(tenant, of)),
      ...(id !== undefined && { id }),
    }),
  };
  return createResources(within, path, 'own', owner);
};

/** A word, a domain, an address and a key that no record has. */
const RARE = ['qxzqx', 'qxzqx.example', 'qxzqx@qxzqx.example', 'QXZQX'];

type Parameter = NonNullable<Operation['parameters']>[number];

/** A value that few records have. */
const rareValue = ({ name, schema }: Parameter): string => {
  if (schema.type === 'integer') return `${schema.minimum ?? 1}`;
  if (known[name]) return known[name];
  const isLast = /_to$/.test(name);
  if (schema.enum) return `${schema.enum.at(-1)}`;
  if (schema.format === 'uuid') return crypto.randomUUID();
  if (schema.format === 'date') return isLast ? '1990-01-01' : '2090-01-01';
  if (schema.format === 'date-time')
    return isLast ? '1990-01-01T00:00:00Z' : '2090-01-01T00:00:00Z';
  if (schema.type === 'boolean') return 'true';
  const pattern = new RegExp(schema.pattern ?? '', 'u');
  return RARE.find((text) => pattern.test(text)) ?? '';
};

/** The queries that an operation is asked: unfiltered and by page, in each order, by each filter, and searched. */
const queriesOf = ({ id, parameters = [] }: Operation, isFiltered: boolean): string[] => {
  const inQuery = parameters.filter((one) => one.in === 'query');
  const names = inQuery.map(({ name }) => name);
  const fixed = inQuery
    .filter((one) => one.required)
    .map(({ name, schema }) => ({
      name,
      text: `${name}=${known[name] ?? schema.enum?.[0] ?? popular.get(name.replace(/_id$/, 's'))}`,
    }));
  const sorts = inQuery.find(({ name }) => name === 'sort')?.schema.enum ?? [];
  const filters = inQuery.filter(
    (one) =>
      isFiltered &&
      !one.required &&
      !['page', 'per_page', 'sort', 'search', 'format'].includes(one.name),
  );
  const more = onLaterPages[id] ?? '';
  const pages = names.includes('page') ? LATER_PAGES.map((page) => `${page}${more}`) : [];
  const own = [
    '',
    ...pages,
    ...sorts.flatMap((sort) => [`sort=${sort}`, ...pages.map((page) => `sort=${sort}&${page}`)]),
    ...filters
      .filter(({ schema }) => schema.type !== 'object')
      .map((one) => `${one.name}=${rareValue(one)}`),
    // With a trigram and without one; a term that no record contains, and one that many contain.
    ...(isFiltered && names.includes('search')
      ? ['search=qxzqx', 'search=qx', 'search=sample', 'search=a']
      : []),
  ];
  return own.map((query) => {
    const missing = fixed.filter(({ name }) => !query.startsWith(`${name}=`));
    return `?${[...missing.map(({ text }) => text), ...(query ? [query] : [])].join('&')}`;
  });
};

test('Every table of a kind has many rows', async () => {
  const few: string[] = [];
  for (const { table, maximum } of await declaredKinds()) {
    const { rows } = await crm.context.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM tenant_crm.${table} WHERE tenant_id = $1`,
      [crm.identity.acme.id],
    );
    const count = rows[0]?.count ?? 0;
    if (count < 0.8 * Math.min(ROWS, (maximum ?? ROWS + ROOM) - ROOM))
      few.push(`${table}: ${count}`);
  }
  expect(few).toEqual([]);
});

describe('The plans of a read use indexes that fit:', () => {
  test.each(reads.map((one) => [one.id, one] as const))('%s', async (id, operation) => {
    const parameters = await parametersOf(operation);
    const problems: string[] = [];
    for (const headers of [owner, limited]) {
      for (const query of queriesOf(operation, headers === owner)) {
        const ask = async () => {
          const { status, text } = await call(subject, operation, { headers, parameters, query });
          // Of others' records, they see none.
          const isDenied = headers === limited && [403, 404].includes(status);
          if (status !== 200 && !isDenied) throw new Error(`${id}${query}: ${status} ${text}`);
        };
        problems.push(...(await problemsIn(`${id}${query}`, ask)));
      }
    }
    expect(problems).toEqual([]);
  });
});

describe('The plans of a change use indexes that fit:', () => {
  test.each(changes.map((one) => [one.id, one] as const))('%s', async (id, operation) => {
    const problems = await problemsIn(id, async () => {
      const parameters = await parametersOf(operation);
      const body = await validBody(subject, operation, 'own');
      const { status, text } = await call(subject, operation, { headers: owner, parameters, body });
      if (status >= 500) throw new Error(`${id}: ${status} ${text}`);
    });
    expect(problems).toEqual([]);
  });
});

test('The plans of an upload in parts use indexes that fit', async () => {
  const operation = operations.find(({ id }) => id === 'updateDocumentUpload') as Operation;
  const parameters = await createResources(subject, UPLOAD_PATH, 'own', owner);
  const url = subject.url + operation.path.replace('{upload_id}', parameters.upload_id ?? '');
  const send = async (offset: number): Promise<number> => {
    const headers = Object.assign({}, owner, subject.headers?.updateDocumentUpload, {
      'Upload-Offset': `${offset}`,
    });
    return (await fetch(url, { method: 'PATCH', headers, body: 'abc' })).status;
  };
  const sent = async () => expect([await send(0), await send(3)]).toEqual([204, 204]);
  expect(await problemsIn('An upload', sent)).toEqual([]);
});

describe('The plans of a public read use indexes that fit:', () => {
  const ofSites = operationsOf(document() as never).filter(
    ({ method, path }) => method === 'GET' && path.startsWith('/public/{tenant}'),
  );
  const tables = ['kb_articles', 'blog_posts', 'pages'];
  const slugs = new Map<string, string>();
  beforeAll(async () => {
    const { http, context, identity } = crm;
    // Earlier operations have set any language.
    const settings = { public_reading: true, content_language: 'en' };
    await http.put('/api/crm/settings').set(owner).send(settings).expect(200);
    for (const table of tables) {
      const { rows } = await context.pool.query<{ slug: string; language: string }>(
        `UPDATE tenant_crm.${table} SET status = 'published', scheduled_at = NULL, deleted_at = NULL,
           published_at = now() - random() * interval '1 year'
         WHERE tenant_id = $1 AND deleted_at IS NULL RETURNING slug, language`,
        [identity.acme.id],
      );
      expect(rows.length).toBeGreaterThan(0.8 * ROWS);
      await context.pool.query(`ANALYZE tenant_crm.${table}`);
      const slug = rows.find(({ language }) => language === 'en')?.slug ?? '';
      slugs.set(table.replace('_', '-'), slug);
    }
  });

  /** All published records are listed in these, in their order. */
  const listsAll = (problem: string): boolean =>
    problem.includes(' sorts ') &&
    /WITH RECURSIVE shown AS MATERIALIZED|WITH shown AS/.test(problem);

  /** Of so few records, reading all published ones costs less than the index of tags and texts. */
  const readsFew = (problem: string): boolean =>
    /\?(tag|search)=.* to find 0, by \w+_published(_\d+)?:\s*WITH hits AS MATERIALIZED/.test(
      problem,
    );

  test.each(ofSites.map((one) => [one.id, one] as const))('%s', async (id, operation) => {
    const [, kind = ''] = /^\/public\/\{tenant\}\/([a-z-]+)/.exec(operation.path) ?? [];
    // Few records have a cover.
    const expected = id.endsWith('Cover') ? 404 : 200;
    const isList = operation.parameters?.some(({ name }) => name === 'page') ?? false;
    for (const query of queriesOf(operation, isList)) {
      const path = operation.path
        .replace('{tenant}', crm.identity.acme.slug)
        .replace('{slug}', slugs.get(kind) ?? '')
        .replace('{number}', '1');
      const ask = async () => {
        const { status } = await crm.http.get(`${path}${query}`);
        expect([`${path}${query}`, status]).toEqual([`${path}${query}`, expected]);
      };
      const problems = await problemsIn(`${id}${query}`, ask);
      expect(problems.filter((one) => !listsAll(one) && !readsFew(one))).toEqual([]);
    }
  });
});

test('Each change of a record that an operation makes has a type of event', async () => {
  const { rows } = await crm.context.pool.query<{ table_name: string; action: string }>(
    'SELECT DISTINCT table_name, action FROM tenant_crm.record_changes',
  );
  expect(rows.length).toBeGreaterThan(20);
  const unknown = rows.filter(
    ({ table_name, action }) => !eventOf(table_name, action) && !withoutEvents[table_name],
  );
  expect(unknown).toEqual([]);
});

test('The plans of sweeps use indexes that fit', async () => {
  const { pool, database } = crm.context;
  expect(
    await problemsIn('sweep', async () => {
      await deleteExpiredKeys(pool);
      await removeValues(database);
    }),
  ).toEqual([]);
});

describe('What is wrong is found:', () => {
  /** The problems of a read while an index is missing. */
  const without = async (index: string, id: string, query: string): Promise<string[]> => {
    const { pool } = crm.context;
    const { rows } = await pool.query<{ definition: string }>(
      `SELECT pg_get_indexdef('tenant_crm.${index}'::regclass) AS definition`,
    );
    await pool.query(`DROP INDEX tenant_crm.${index}`);
    const operation = reads.find((one) => one.id === id) as Operation;
    const parameters = await parametersOf(operation);
    const ask = () => call(subject, operation, { headers: owner, parameters, query });
    const found = await problemsIn(id, ask);
    await pool.query(rows[0]?.definition ?? '');
    return found;
  };

  test.each([
    ['a filter', 'contacts_by_owner', 'listContacts', `?owner_id=${crypto.randomUUID()}`, 'reads'],
    ['a search', 'contacts_search', 'listContacts', '?search=qxzqx', 'reads'],
    ['an order', 'contacts_by_name', 'listContacts', '?sort=name', 'sorts'],
    ['a later page', 'companies_by_change', 'listCompanies', '?sort=updated_at&page=40', 'sorts'],
    ['a timeline', 'tasks_by_contact_creation', 'listContactTimeline', '?page=12', 'tasks'],
  ])('the missing index of %s', async (_, index, id, query, problem) => {
    expect(await without(index, id, query)).toContainEqual(
      expect.stringMatching(new RegExp(`^${id} .*${problem}`)),
    );
  });

  test('a condition that no index can be used for', async () => {
    const statement = "SELECT id FROM tenant_crm.contacts WHERE notes = 'qxzqx'";
    expect(await problemsIn('A statement', () => crm.context.pool.query(statement))).toContainEqual(
      expect.stringContaining('scans contacts from end to end'),
    );
  });
});
