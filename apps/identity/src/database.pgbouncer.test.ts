import { type PgBouncer, startPgBouncer } from '@tessera/local-stack';
import { identityDatabase, startIdentity, type TestIdentity } from './testing/identity.ts';

let bouncer: PgBouncer;
let identity: TestIdentity;

beforeAll(async () => {
  const direct = await identityDatabase();
  bouncer = await startPgBouncer(direct);
  identity = await startIdentity({
    DATABASE_URL: bouncer.url,
    DATABASE_DIRECT_URL: direct,
    DATABASE_POOLER: 'true',
    DATABASE_POOL_SIZE: '10',
  });
});
afterAll(async () => {
  await identity?.stop();
  await bouncer?.stop();
});

test('Behind PgBouncer, many users concurrently sign in, change their profiles and sign out', async () => {
  const one = async (n: number) => {
    const user = await identity.people.user({ tenant: await identity.people.tenant() });
    const bearer = await identity.people.signIn(user);
    const get = () => identity.http.get('/api/profile').set(bearer);
    const change = { first_name: `Ada ${n}` };
    await identity.http.put('/api/profile').set(bearer).send(change).expect(200);
    const { body } = await get().expect(200);
    await identity.http.post('/api/auth/logout').set(bearer).expect(200);
    await get().expect(401);
    return body.data;
  };
  const profiles = await Promise.all(Array.from({ length: 12 }, (_none, n) => one(n)));
  expect(profiles.map(({ first_name }) => first_name)).toEqual(
    profiles.map((_profile, n) => `Ada ${n}`),
  );
});

test('Behind PgBouncer, no prepared statement remains on a connection', async () => {
  const { rows } = await identity.context.pool.query('SELECT count(*) FROM pg_prepared_statements');
  expect(rows).toEqual([{ count: 0 }]);
});
