import { hash } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { CodeFlow } from '../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { PASSWORD } from '../testing/population.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

/** Every row of every table as text; bytes also decoded as text. */
const everything = async (): Promise<string> => {
  const { pool } = identity.context;
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_schema IN ('identity', 'public') AND table_type = 'BASE TABLE'`,
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await pool.query(`SELECT row_to_json(t)::text AS row FROM ${name} t`);
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  const text = texts.join('\n');
  const bytes = [...text.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = '']) =>
    Buffer.from(hex, 'hex'),
  );
  return [text, ...bytes.map((each) => each.toString('latin1'))].join('\n');
};

test('no table contains a token, a password, a mailed link or a session secret in readable form', async () => {
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const answer = await identity.http
    .post('/api/auth/login')
    .send({ email: user.email, password: PASSWORD });
  const { token } = answer.body.data;
  const session = /session=([^;]+)/.exec(String(answer.headers['set-cookie']))?.[1] ?? '';
  const application = await identity.people.application('identity.tenants.list');
  await identity.http.post('/api/auth/logout').set('authorization', `Bearer ${token}`);

  await identity.http.post('/api/auth/password/forgot').send({ email: user.email });
  const { mail, database } = identity.context;
  await until(async () => (await database.outboxMail.count()) === 1);
  const [row] = await database.outboxMail.findMany();
  const claimed = { id: row?.id ?? '', sealed: row?.sealedMessage ?? Buffer.of() };
  const [link = ''] = /https:\S+/.exec(mail.open(claimed).text) ?? [];
  const reset = new URL(link).searchParams.get('token') ?? '';

  const rows = await everything();
  // Proves that the search itself works.
  expect(rows).toContain(user.id);
  expect(rows).toContain(application.clientId);
  expect(rows).toContain(hash('sha256', session, 'buffer').toString('latin1'));
  const signature = token.split('.')[2];
  for (const secret of [
    PASSWORD,
    token,
    signature,
    session,
    reset,
    application.token,
    application.secret,
  ]) {
    expect(rows.includes(secret)).toBe(false);
  }
});

test('nor a code, a refresh token or the secret of a client', async () => {
  const flow = new CodeFlow(identity);
  const client = await flow.client();
  const cookie = await flow.signIn(await identity.people.user());
  const waiting = await flow.code(client, cookie);
  const spent = await flow.code(client, cookie, { scope: 'openid' });
  const { body: first } = await flow.exchange(client, spent);
  const { body: second } = await flow.refresh(client, first.refresh_token);

  const rows = await everything();
  expect(rows).toContain(hash('sha256', waiting.code, 'buffer').toString('latin1'));
  const tokens = [first, second].flatMap((answer) => Object.values<string>(answer));
  const secrets = [
    waiting.code,
    waiting.verifier,
    spent.code,
    client.secret ?? '',
    cookie,
    ...tokens,
  ]
    // Only the session's secret; short values are not secrets.
    .map((secret) => String(secret).split('session=').at(-1) ?? '')
    .filter((secret) => secret.length >= 32);
  expect(secrets.length).toBeGreaterThanOrEqual(11);
  for (const secret of secrets) expect(rows.includes(secret)).toBe(false);
});
