import { until } from '@tessera/local-stack';
import { startIdentity, type TestIdentity } from './testing/identity.ts';
import { WAITING } from './testing/locks.ts';

/** More than there are connections. */
const CHANGES = 20;

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity({ DATABASE_POOL_SIZE: '5' });
});
afterAll(() => identity.stop());

test('Changes of one tenant that wait for each other keep nobody else from signing in', async () => {
  const { http, people, context } = identity;
  const [noisy, quiet] = [await people.tenant(), await people.tenant()];
  const owner = await people.signIn(await people.user({ tenant: noisy, role: 'owner' }));
  const member = await people.user({ tenant: quiet, role: 'owner' });
  const create = (n: number): Promise<number> =>
    http
      .post(`/api/tenants/${noisy.id}/roles`)
      .set(owner)
      .send({ name: `Role ${n}` })
      .then(({ status }) => status);
  const changes = await context.database.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM identity.tenants WHERE id = ${noisy.id}::uuid FOR UPDATE`;
    const running = Array.from({ length: CHANGES }, (_, n) => create(n));
    await until(() => context.pool.waiting > 0);
    for (let n = 0; n < 5; n += 1) {
      const bearer = await people.signIn(member);
      await http.get('/api/user').set(bearer).expect(200);
      await http
        .post(`/api/tenants/${quiet.id}/roles`)
        .set(bearer)
        .send({ name: `Role ${n}` })
        .expect(201);
    }
    return { running };
  }, WAITING);
  expect(await Promise.all(changes.running)).toEqual(Array(CHANGES).fill(201));
});
