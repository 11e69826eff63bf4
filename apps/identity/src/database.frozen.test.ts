import {
  freezePostgres,
  type Postgres,
  startPostgres,
  throwawaySettings,
} from '@tessera/local-stack';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

let postgres: Postgres;
let identity: TestIdentity;

beforeAll(async () => {
  postgres = await startPostgres({ settings: throwawaySettings });
  identity = await startIdentity({ DATABASE_URL: await postgres.createDatabase('identity') });
});
afterAll(async () => {
  await identity?.stop();
  await postgres?.stop();
});

test('Requests to identity fail with 503 when PostgreSQL stops responding, and succeed once it continues', async () => {
  const { http, people } = identity;
  const bearer = await people.signIn(await people.user());
  const me = () => http.get('/api/me').set(bearer);
  const activity = () => http.get('/api/profile/activity').set(bearer);
  await me().expect(200);
  const unfreeze = await freezePostgres(postgres);
  try {
    const requests = Array.from({ length: 6 }, (_none, n) => (n % 2 ? me() : activity()));
    for (const { status, body } of await Promise.all(requests)) {
      expect([status, body.error]).toEqual([503, 'database_unavailable']);
    }
  } finally {
    unfreeze();
  }
  await me().expect(200);
});
