import { hash } from 'node:crypto';
import { startIdentity, type TestIdentity } from './testing/identity.ts';
import { PASSWORD } from './testing/population.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

/** Every row of every table, as text; bytes also as the text that they may spell. */
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

test('no table holds a token, a password or the secret of a session in readable form', async () => {
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const answer = await identity.http
    .post('/api/auth/login')
    .send({ email: user.email, password: PASSWORD });
  const { token } = answer.body.data;
  const session = /session=([^;]+)/.exec(String(answer.headers['set-cookie']))?.[1] ?? '';
  const application = await identity.people.application('identity.tenants.list');
  await identity.http.post('/api/auth/logout').set('authorization', `Bearer ${token}`);

  const rows = await everything();
  // The search itself works: these are there.
  expect(rows).toContain(user.id);
  expect(rows).toContain(application.clientId);
  expect(rows).toContain(hash('sha256', session, 'buffer').toString('latin1'));
  const signature = token.split('.')[2];
  for (const secret of [
    PASSWORD,
    token,
    signature,
    session,
    application.token,
    application.secret,
  ]) {
    expect(rows.includes(secret)).toBe(false);
  }
});
