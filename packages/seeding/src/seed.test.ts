import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type Stack,
  startStack,
  testedFrom,
  testedProgram,
  throwawaySettings,
  until,
} from '@tessera/local-stack';
import pg from 'pg';
import { chatTables } from './chat.ts';
import { contentRelatedTables } from './contents.ts';
import { type KindName, recordKinds } from './records.ts';
import { kindNames, optionOf, seededTables } from './seed.ts';
import { sharedTables } from './shared-records.ts';

const PASSWORD = 'Correct-horse-1';
const cli = testedProgram('packages/seeding/src/cli');

let directory: string;
let stack: Stack;
let crm: pg.Pool;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-seeding-'));
  stack = await startStack({
    directory,
    from: testedFrom,
    postgresSettings: throwawaySettings,
    environment: { RATE_LIMIT_LOGIN: '1000', RATE_LIMIT_DEFAULT: '100000' },
  });
  crm = new pg.Pool({ connectionString: stack.postgres.url('crm') });
});
afterAll(async () => {
  await crm?.end();
  await stack?.stop();
  await rm(directory, { recursive: true });
});

const start = (options: string, environment: Record<string, string> = {}) => {
  const child = spawn(
    process.execPath,
    [...cli, ...options.split(' ').filter((option) => option)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        IDENTITY_DATABASE_URL: stack.postgres.url('identity'),
        CRM_DATABASE_URL: stack.postgres.url('crm'),
        ...environment,
      },
    },
  );
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(
    ([output, told, [code]]) => ({ output, told, code: code as number | null }),
  );
  return { child, ended };
};
const run = (options: string, environment?: Record<string, string>) =>
  start(options, environment).ended;

/** The options of a seed with these numbers of records, and no others. */
const recordOptions = (numbers: Partial<Record<KindName, number>>): string =>
  kindNames.map((name) => `${optionOf(name)} ${numbers[name] ?? 0}`).join(' ');

interface Listing {
  readonly data: readonly Record<string, unknown>[];
  readonly meta: { readonly total: number };
}

const ownersOf = (output: string): string[] =>
  [...output.matchAll(/^ {2}owner of .*: (\S+@\S+)$/gm)].map(([, email]) => email ?? '');

const signIn = async (email: string, password = PASSWORD): Promise<string> => {
  const response = await fetch(`${stack.identity.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { token: string } }).data.token;
};

const list = async (token: string, what: string): Promise<Listing> => {
  const response = await fetch(`${stack.crm.url}/api/crm/${what}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Listing;
};

/** The records of a tenant, whatever is kept of their number. */
const counted = async (table: string): Promise<number> =>
  (await crm.query(`SELECT count(*)::int AS n FROM tenant_crm.${table}`)).rows[0].n;
const kept = async (table: string): Promise<number> =>
  (
    await crm.query(
      'SELECT coalesce(sum(count), 0)::int AS n FROM tenant_crm.record_counts WHERE table_name = $1',
      [table],
    )
  ).rows[0].n;
const indexes = async (): Promise<unknown[]> =>
  (await crm.query("SELECT indexdef FROM pg_indexes WHERE schemaname = 'tenant_crm' ORDER BY 1"))
    .rows;

/** Whether contacts are on their way into the table; a load that was cut may be so for a moment more. */
const isCopying = async (): Promise<boolean> => {
  const { rowCount } = await crm.query(
    `SELECT FROM pg_stat_progress_copy
     WHERE relid = 'tenant_crm.contacts'::regclass AND tuples_processed > 0`,
  );
  return Boolean(rowCount);
};

/** A run that is in the middle of its contacts. */
const startCopying = async (options: string) => {
  await until(async () => !(await isCopying()));
  const started = start(options);
  await until(isCopying);
  return started;
};

/** Removes the only tenant of a seed, as if it had never been made. */
const forget = async (seed: number): Promise<void> => {
  const identity = new pg.Client({ connectionString: stack.postgres.url('identity') });
  await identity.connect();
  const { rows } = await identity.query(
    `DELETE FROM identity.users WHERE email LIKE '%-${seed}-1.example' RETURNING tenant_id AS id`,
  );
  for (const { id } of rows) {
    await identity.query('DELETE FROM identity.tenants WHERE id = $1', [id]);
    // Records before those that they refer to.
    const tables = [
      ...Object.values(recordKinds).map(({ table }) => table),
      ...sharedTables,
      ...contentRelatedTables,
    ];
    for (const table of tables.reverse()) {
      await crm.query(`DELETE FROM tenant_crm.${table} WHERE tenant_id = $1`, [id]);
    }
  }
  await identity.end();
};

describe('a seeded system', () => {
  const options = `--tenants 3 --users 12 --companies 20 --contacts 601 --communication-logs 61 --leave-requests 180 --projects 6 --tasks 90 --time-entries 300 --samples --password ${PASSWORD}`;
  let first: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    // CRM's own connections end when nobody has asked for ten seconds.
    const somebody = await crm.connect();
    first = await run(options);
    somebody.release();
  });

  test('has in each tenant its confidential client', async () => {
    const identity = new pg.Client({ connectionString: stack.postgres.url('identity') });
    await identity.connect();
    const { rows } = await identity.query(
      `SELECT t.slug, c.client_id, length(c.secret_hash) AS secret, c.is_trusted
       FROM identity.tenants t LEFT JOIN identity.oauth_clients c ON c.tenant_id = t.id`,
    );
    await identity.end();
    // Those of the seed and the two of the local system.
    expect(rows).toHaveLength(5);
    for (const { slug, ...client } of rows) {
      expect(client).toEqual({ client_id: `tenant-${slug}`, secret: 32, is_trusted: true });
    }
  });

  test('has rows of each tenant in every seeded table', async () => {
    const missing: string[] = [];
    for (const table of seededTables) {
      const { rows } = await crm.query(
        `SELECT count(DISTINCT tenant_id)::int AS n FROM tenant_crm.${table}`,
      );
      if (rows[0].n < 3) missing.push(table);
    }
    expect(missing).toEqual([]);
  });

  test('has folders, of which one is seen by its members, and projects and channels with members and bots', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data: folders } = await list(token, 'document-folders');
    expect(folders).toHaveLength(8);
    expect(folders.filter(({ is_private }) => is_private)).toMatchObject([{ name: 'Personnel' }]);
    const { data: projects } = await list(token, 'projects');
    expect((await list(token, `projects/${projects[0]?.id}/members`)).meta.total).toBe(4);
    const { data: channels } = await list(token, 'channels');
    expect((await list(token, `channels/${channels[0]?.id}/bots`)).data).toHaveLength(2);
  });

  test('has in each tenant an owner who can sign in and sees a share of the records', async () => {
    expect(first).toMatchObject({ code: 0 });
    expect(first.output).toMatch(
      /^Added 3 tenants, 12 users, 20 companies, 601 contacts, 61 communication logs, 180 leave requests, 6 projects, 90 tasks, 300 time entries in \d+ s\.$/m,
    );
    const owners = ownersOf(first.output);
    expect(owners).toHaveLength(3);
    const totals = await Promise.all(
      owners.map(async (owner) => (await list(await signIn(owner), 'contacts')).meta.total),
    );
    expect(totals).toEqual([201, 200, 200]);
  });

  test('finds an accented name without its accents', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data } = await list(token, 'contacts?per_page=100');
    const accented = data
      .map((of) => String(of.last_name))
      .find((name) => /[áéíóöőúüű]/.test(name));
    const plain = accented?.normalize('NFD').replace(/\p{M}/gu, '') ?? '';
    expect(plain).not.toBe(accented);
    const found = await list(token, `contacts?search=${encodeURIComponent(plain)}`);
    expect(found.data.map(({ last_name }) => last_name)).toContain(accented);
  });

  test('lists records from the newest, each with an id of its time, over years', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const newest = (await list(token, 'contacts?sort=-created_at&per_page=100')).data;
    const oldest = (await list(token, 'contacts?sort=created_at&per_page=100')).data;
    const ids = newest.map(({ id }) => String(id));
    expect(ids).toEqual([...ids].sort().reverse());
    const years =
      Date.parse(String(newest[0]?.created_at)) - Date.parse(String(oldest[0]?.created_at));
    expect(years).toBeGreaterThan(2 * 365 * 86_400_000);
  });

  test('has custom fields, and contacts that can be filtered by their values', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data: fields } = await list(token, 'custom-fields');
    const keys = fields.map(({ key }) => key);
    expect(keys).toEqual(['tier', 'source', 'score', 'birthday', 'newsletter']);
    const { data, meta } = await list(token, 'contacts?custom.tier=gold&per_page=100');
    expect(meta.total).toBeGreaterThan(0);
    expect(meta.total).toBeLessThan(100);
    for (const { custom } of data) {
      expect(custom).toEqual({
        tier: 'gold',
        source: expect.any(String),
        score: expect.any(Number),
        birthday: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        newsletter: expect.any(Boolean),
      });
    }
  });

  test('has companies whose addresses can be shown', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data } = await list(token, 'companies?per_page=100');
    const [found] = data.flatMap(({ id, addresses }) =>
      (addresses as { id: string }[]).map((address) => ({ id, address })),
    );
    const shown = await list(token, `companies/${found?.id}/addresses/${found?.address.id}`);
    expect(shown.data).toEqual(found?.address);
  });

  test('has leave requests of its users, of which approved ones do not overlap', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data, meta } = await list(token, 'leave-requests?status=approved&per_page=100');
    expect(meta.total).toBeGreaterThan(3);
    expect(data.every(({ user_id, reviewed_by }) => user_id !== reviewed_by)).toBe(true);
    expect(Number(data[0]?.working_days)).toBeLessThanOrEqual(10);
  });

  test('has time entries in projects', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data, meta } = await list(token, 'time-entries?per_page=100');
    expect(meta.total).toBe(100);
    expect(data.filter(({ project_id }) => project_id !== null).length).toBeGreaterThan(50);
    expect(data.every(({ minutes }) => Number(minutes) > 0)).toBe(true);
  });

  test('has tasks in projects, which can be moved to the end of another column', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data: projects } = await list(token, 'projects');
    expect(projects).toHaveLength(2);
    const { data } = await list(token, `tasks?project_id=${projects[0]?.id}`);
    expect(data.length).toBeGreaterThan(0);
    const response = await fetch(`${stack.crm.url}/api/crm/tasks/reorder`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task_id: data[0]?.id, status: 'done' }),
    });
    expect(response.status).toBe(200);
  });

  test('has communication logs about contacts and companies of the tenant', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data, meta } = await list(token, 'communication-logs?kind=email&per_page=100');
    expect(meta.total).toBeGreaterThan(0);
    const log = data.find(({ contact_id }) => contact_id !== null);
    expect((await list(token, `contacts/${log?.contact_id}`)).data).toHaveProperty('first_name');
  });

  test('has texts with translations, revisions, comments and votes, which CRM would not render otherwise', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const published = await list(token, 'kb-articles?status=published');
    expect(published.meta.total).toBeGreaterThan(5);
    const [article] = published.data;
    expect(article).toMatchObject({
      comment_count: expect.any(Number),
      helpful_count: expect.any(Number),
    });
    const at = `kb-articles/${article?.id}`;
    expect((await list(token, `${at}/comments`)).data).toHaveLength(3);
    expect((await list(token, `${at}/feedback`)).meta.total).toBe(4);
    const { data: revisions } = await list(token, `${at}/revisions`);
    expect(revisions).toMatchObject([{ changed_fields: ['body'] }, { version: 1 }]);
    const activity = await list(token, `activity?resource_id=${article?.id}`);
    expect(activity.data).toMatchObject([{ action: 'published' }]);
    const translated = (await list(token, 'kb-articles?language=en')).data[0];
    expect((await list(token, `kb-articles/${translated?.id}/translations`)).data).toHaveLength(2);
    expect((await list(token, 'pages?in_root=true')).meta.total).toBe(7);
    const one = (await list(token, at)).data as unknown as Record<string, unknown>;
    const response = await fetch(`${stack.crm.url}/api/crm/kb-articles`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title: one.title, body: one.body, language: 'sk' }),
    });
    const { data: again } = (await response.json()) as { data: object };
    const { slug, body_html, word_count } = one;
    expect(again).toMatchObject({ slug, body_html, word_count });
  });

  test('has recorded the slugs of texts that are or were published, and of no draft', async () => {
    const { rows } = await crm.query(`
      SELECT DISTINCT status, record_id IS NOT NULL AS is_recorded
      FROM (
        SELECT tenant_id, id, status FROM tenant_crm.kb_articles
        UNION ALL SELECT tenant_id, id, status FROM tenant_crm.blog_posts
        UNION ALL SELECT tenant_id, id, status FROM tenant_crm.pages
      ) AS texts
      LEFT JOIN tenant_crm.content_slugs AS slug
        ON slug.tenant_id = texts.tenant_id AND slug.record_id = texts.id
      ORDER BY status`);
    expect(rows).toEqual([
      { status: 'archived', is_recorded: true },
      { status: 'draft', is_recorded: false },
      { status: 'published', is_recorded: true },
    ]);
  });

  test('has channels, and messages of their participants', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const { data, meta } = await list(token, 'channels');
    expect(meta.total).toBe(4);
    for (const { id, last_position, last_message } of data) {
      expect(last_message).toMatchObject({ position: last_position });
      expect((await list(token, `channels/${id}/messages`)).meta.total).toBe(last_position);
    }
    const { rows } = await crm.query(`
      SELECT FROM tenant_crm.messages AS message WHERE NOT EXISTS (
        SELECT FROM tenant_crm.channel_participants AS participant
        WHERE participant.tenant_id = message.tenant_id
          AND participant.channel_id = message.channel_id
          AND participant.user_id = message.user_id)`);
    expect(rows).toEqual([]);
  });

  test('gets nothing twice', async () => {
    const total = await kept('contacts');
    const again = await run(options);
    expect(again).toMatchObject({ code: 0 });
    expect(again.output).toContain(
      'Added 0 tenants, 0 users, 0 companies, 0 contacts, 0 communication logs',
    );
    expect(await kept('contacts')).toBe(total);
  });

  test('answers while more is loaded', async () => {
    const token = await signIn(ownersOf(first.output)[0] ?? '');
    const total = await kept('contacts');
    const { child, ended } = await startCopying(
      `--tenants 1 --users 1 ${recordOptions({ contacts: 25_000 })} --seed 23`,
    );
    expect((await list(token, 'contacts')).meta.total).toBe(201);
    expect(child.exitCode).toBe(null);
    child.kill();
    expect(await ended).toMatchObject({ code: 130, told: expect.stringContaining('Interrupted') });
    expect(await kept('contacts')).toBe(total);
  });
});

test('Small tenants have their own few records, however many the others have', async () => {
  const records = recordOptions({ companies: 70, contacts: 900 });
  const options = `--tenants 1 --users 2 --small-tenants 2 ${records} --seed 31 --password ${PASSWORD}`;
  const { code, output } = await run(options);
  expect(code).toBe(0);
  expect(output).toMatch(
    /^Added 3 tenants, 8 users, 190 companies, 1,500 contacts, 0 communication logs/m,
  );
  const tokens = await Promise.all(ownersOf(output).map((owner) => signIn(owner)));
  const totals = await Promise.all(
    tokens.map(async (token) => (await list(token, 'contacts')).meta.total),
  );
  expect(totals).toEqual([900, 300, 300]);
  const tasks = await Promise.all(
    tokens.map(async (token) => (await list(token, 'tasks')).meta.total),
  );
  expect(tasks).toEqual([0, 0, 0]);
  expect((await run(options)).output).toContain('Added 0 tenants, 0 users');
});

/** The tables in which a seed may add rows, and how many it has added since a count. */
const added = async (before: Readonly<Record<string, number>> = {}) => {
  const counts = await Promise.all(
    seededTables.map(
      async (table) => [table, (await counted(table)) - (before[table] ?? 0)] as const,
    ),
  );
  return Object.fromEntries(counts.filter(([, rows]) => rows > 0));
};

test.each([
  ['contacts alone', '--contacts 3 --seed 41', ['contacts', 'custom_fields']],
  ['nothing but tenants and users', '--contacts 0 --seed 42', []],
  ['small tenants with one kind', '--tasks 2 --small-tenants 1 --seed 43', ['tasks']],
  [
    'samples without records',
    '--samples --seed 44',
    [...chatTables, ...contentRelatedTables, ...sharedTables].filter(
      (table) => table !== 'project_members',
    ),
  ],
])('Tenants get what the options name: %s', async (_what, options, tables) => {
  const before = await added();
  const { code } = await run(`--tenants 1 --users 2 ${options}`);
  expect(code).toBe(0);
  expect(Object.keys(await added(before)).sort()).toEqual([...tables].sort());
});

test('Records that refer to missing ones are not added, and the note says what to add', async () => {
  const { code, output, told } = await run(
    '--tenants 1 --users 1 --communication-logs 5 --seed 45',
  );
  expect(code).toBe(0);
  expect(told).toContain('Add --companies or --contacts.');
  expect(output).toContain('0 communication logs');
});

test('The same seed makes the same people, another one makes others', async () => {
  const names = async (seed: number): Promise<unknown> => {
    const { output } = await run(
      `--tenants 1 --users 1 ${recordOptions({ contacts: 30 })} --seed ${seed} --password ${PASSWORD}`,
    );
    const { data } = await list(await signIn(ownersOf(output)[0] ?? ''), 'contacts?per_page=100');
    return data.map(({ first_name, last_name }) => `${first_name} ${last_name}`);
  };
  const seven = await names(7);
  expect(await names(8)).not.toEqual(seven);
  await forget(7);
  expect(await names(7)).toEqual(seven);
});

test.each([
  ['SIGINT', 130, 21],
  ['SIGKILL', null, 22],
] as const)(
  'A load that is interrupted by %s leaves exact totals, all indexes and the reported users, and can be repeated',
  async (signal, code, seed) => {
    const [before, total] = [await indexes(), await counted('contacts')];
    const options = `--tenants 1 --users 1 ${recordOptions({ contacts: 25_000 })} --seed ${seed} --exclusive`;
    const { child, ended } = await startCopying(options);
    child.kill(signal);
    const cut = await ended;
    expect(cut).toMatchObject({ code });
    const [, password] = /^Everybody's password: (\S+)$/m.exec(cut.output) ?? [];
    const token = await signIn(ownersOf(cut.output)[0] ?? '', password);
    await until(async () => (await counted('contacts')) === total);
    expect(await kept('contacts')).toBe(total);
    expect(await indexes()).toEqual(before);

    const again = await run(options);
    expect(again).toMatchObject({ code: 0 });
    expect(again.told).toContain('Requests for contacts wait until all of them are loaded');
    expect(again.told).toMatch(/building index \d+ of \d+, /);
    expect((await list(token, 'contacts')).meta.total).toBe(25_000);
    expect(await counted('contacts')).toBe(total + 25_000);
    expect(await kept('contacts')).toBe(total + 25_000);
    expect(await indexes()).toEqual(before);
  },
  120_000,
);

describe('refused with 2 and the reason:', () => {
  test.each([
    ['--contacts -1', "option '--contacts <number>' argument '-1' is invalid"],
    ['--contacts many', 'It is a whole number from 0'],
    ['--tenants 0', 'It is a whole number from 1 to 100000.'],
    ['--tenants 100001 --users 100001', 'It is a whole number from 1 to 100000.'],
    ['--tenants 5 --users 4', '--users (4) must be at least --tenants (5)'],
    ['--password short', 'at least 12 characters'],
    ['--dragons 3', "unknown option '--dragons'"],
    ['everything', 'too many arguments'],
  ])('%s', async (options, reason) => {
    const { code, told } = await run(options);
    expect(told).toContain(reason);
    expect(code).toBe(2);
  });

  test('one database without the other', async () => {
    const { code, told } = await run('', { IDENTITY_DATABASE_URL: '' });
    expect(told).toContain('IDENTITY_DATABASE_URL is missing');
    expect(code).toBe(2);
  });
});

test('A database without tables is distinguished from one that is ready', async () => {
  const { code, told } = await run('', { CRM_DATABASE_URL: stack.postgres.url('postgres') });
  expect(told).toContain('The database of crm lacks tenant_crm.');
  expect(code).toBe(1);
});
