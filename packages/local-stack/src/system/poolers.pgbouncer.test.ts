import pg from 'pg';
import type { Application } from '../application.ts';
import { type PgBouncer, startPgBouncer } from '../pgbouncer.ts';
import { type RedisServer, startRedis } from '../redis.ts';
import { type Replicated, startReplicated } from '../replicated-postgres.ts';
import { until } from '../until.ts';
import { signIn } from './people.ts';
import { call } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let servers: Replicated;
let redis: RedisServer;
let stack: TestStack;
let crms: readonly [Application, Application];
/** The poolers of identity's database, of CRM's, and of the replica of CRM's. */
const bouncers: PgBouncer[] = [];

/** Both services behind PgBouncer in transaction mode; CRM also reads from a streaming replica behind PgBouncer. */
beforeAll(async () => {
  [servers, redis] = await Promise.all([startReplicated(), startRedis()]);
  const through = async (url: string): Promise<string> => {
    const bouncer = await startPgBouncer(url);
    bouncers.push(bouncer);
    return bouncer.url;
  };
  stack = await startTestStack({
    async databaseOf(service) {
      const direct = await servers.primary.createDatabase(service);
      return {
        DATABASE_URL: await through(direct),
        DATABASE_DIRECT_URL: direct,
        DATABASE_POOLER: 'true',
        ...(service === 'crm' && {
          DATABASE_READ_URL: await through(servers.replica.url(service)),
          REDIS_URL: redis.url,
        }),
      };
    },
  });
  crms = [stack.crm, await stack.addReplica('crm')];
}, 180_000);
afterAll(async () => {
  await stack?.remove();
  await Promise.all(bouncers.map((bouncer) => bouncer.stop()));
  await Promise.all([servers?.stop(), redis?.stop()]);
});

/** How often the replica has read the contacts. */
const readsOfReplica = async (): Promise<number> => {
  const client = new pg.Client({ connectionString: servers.replica.url('crm') });
  await client.connect();
  try {
    const { rows } = await client.query<{ reads: string }>(
      `SELECT coalesce(sum(seq_scan + idx_scan), 0) AS reads FROM pg_stat_user_tables
       WHERE schemaname = 'tenant_crm' AND relname = 'contacts'`,
    );
    return Number(rows[0]?.reads);
  } finally {
    await client.end();
  }
};

test('Lists come from the replica, and contain what the caller has just written through another instance', async () => {
  const token = await signIn(stack, 'owner');
  const before = await readsOfReplica();
  for (let n = 0; n < 20; n += 1) {
    const [writer, reader] = [crms[n % 2], crms[(n + 1) % 2]];
    const created = await call('POST', `${writer?.url}/api/crm/contacts`, {
      token,
      body: { first_name: `Ada ${n}` },
    });
    expect(created.status).toBe(201);
    const { status, body } = await call('GET', `${reader?.url}/api/crm/contacts?per_page=100`, {
      token,
    });
    expect(status).toBe(200);
    const { data } = body as { data: { first_name: string }[] };
    expect(data.map(({ first_name: name }) => name)).toContain(`Ada ${n}`);
  }
  await until(async () => {
    await call('GET', `${crms[0].url}/api/crm/contacts`, { token });
    return (await readsOfReplica()) > before;
  });
  const other = await signIn(stack, 'other_owner');
  const { body } = await call('GET', `${crms[1].url}/api/crm/contacts`, { token: other });
  expect(body).toMatchObject({ data: [] });
});

test('A change of rights in identity takes effect at every instance', async () => {
  const token = await signIn(stack, 'owner');
  const viewer = await signIn(stack, 'viewer');
  const { tenant_id: tenantId, user_id: userId } = stack.system.viewer;
  const member = `${stack.identity.url}/api/tenants/${tenantId}/members/${userId}`;
  const create = async ({ url }: Application): Promise<number> => {
    const body = { first_name: 'Eve' };
    return (await call('POST', `${url}/api/crm/contacts`, { token: viewer, body })).status;
  };
  for (const [role, status] of [
    ['member', 201],
    ['viewer', 403],
  ] as const) {
    expect((await call('PUT', member, { token, body: { role } })).status).toBe(200);
    for (const crm of crms) await until(async () => (await create(crm)) === status);
  }
});

test('A message reaches the stream of the other instance (NOTIFY), and a document is read by a job', async () => {
  const token = await signIn(stack, 'owner');
  const channels = `${crms[0].url}/api/crm/channels`;
  const made = await call('POST', channels, { token, body: { kind: 'public', name: 'General' } });
  const { id } = (made.body as { data: { id: string } }).data;
  const stopping = new AbortController();
  const stream = await fetch(`${crms[1].url}/api/crm/channels/${id}/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stopping.signal,
  });
  let received = '';
  const reading = (async () => {
    for await (const part of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += part;
    }
  })().catch(() => undefined);
  // Only what is posted from then on is delivered.
  await until(() => received.includes('event: ready'));
  const path = `${channels}/${id}/messages`;
  expect((await call('POST', path, { token, body: { body: 'Hello there' } })).status).toBe(201);
  await until(() => received.includes('Hello there'));
  stopping.abort();
  await reading;

  const form = new FormData();
  form.set('file', new Blob(['a rare word: zephyr'], { type: 'text/plain' }), 'a.txt');
  const documents = `${crms[0].url}/api/crm/documents`;
  const headers = { authorization: `Bearer ${token}` };
  const uploaded = await fetch(documents, { method: 'POST', headers, body: form });
  expect(uploaded.status).toBe(201);
  // The words are extracted by a job.
  await until(async () => {
    const found = await call('GET', `${documents}?search=zephyr`, { token });
    return (found.body as { data: unknown[] }).data.length === 1;
  });
});

test('Without the replica everything is read from the primary, and without PgBouncer the answer is 503', async () => {
  const token = await signIn(stack, 'owner');
  const url = `${crms[0].url}/api/crm/contacts`;
  const [, ofCrm, ofReplica] = bouncers;
  await ofReplica?.stop();
  for (let n = 0; n < 5; n += 1) {
    expect((await call('GET', url, { token })).status).toBe(200);
  }
  await ofCrm?.stop();
  const refused = await call('POST', url, { token, body: { first_name: 'Ada' } });
  expect(refused.status).toBe(503);
  expect(refused.body).toMatchObject({ error: 'database_unavailable' });
});
