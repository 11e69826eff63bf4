import { type FailoverPair, startFailoverPair, until } from '@tessera/local-stack';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

const SIGN_INS = 4;

let servers: FailoverPair;
let identity: TestIdentity;

beforeAll(async () => {
  servers = await startFailoverPair();
  identity = await startIdentity({ DATABASE_URL: await servers.createDatabase('identity') });
});
afterAll(async () => {
  await identity?.stop();
  await servers?.stop();
});

test('After a failover, identity accepts the tokens that it issued, and has every change that it confirmed', async () => {
  const { http, people } = identity;
  const users = await Promise.all(Array.from({ length: SIGN_INS }, () => people.user()));
  const bearers = await Promise.all(users.map((user) => people.signIn(user)));
  const last = new Map<number, number>();
  const others = new Set<number>();
  let isStopping = false;
  const change = async (index: number) => {
    for (let n = 0; !isStopping; n += 1) {
      const send = http.put('/api/profile').set(bearers[index] ?? {});
      const { status } = await send.send({ first_name: `Name ${n}` });
      if (status === 200) last.set(index, n);
      else others.add(status);
    }
  };
  const progress = () => [...last.values()].reduce((sum, n) => sum + n, 0);
  const writers = bearers.map((_bearer, index) => change(index));
  await until(() => progress() >= 40);
  await servers.failOver();
  const before = progress();
  await until(() => progress() >= before + 40);
  isStopping = true;
  await Promise.all(writers);

  expect([...others].filter((status) => status !== 503)).toEqual([]);
  for (const [index, bearer] of bearers.entries()) {
    const { body } = await http.get('/api/profile').set(bearer).expect(200);
    const [, stored] = body.data.first_name.split(' ');
    expect(Number(stored)).toBeGreaterThanOrEqual(last.get(index) ?? 0);
  }
  await people.signIn(await people.user());
});
