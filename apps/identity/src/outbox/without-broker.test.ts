import { randomBytes } from 'node:crypto';
import { asyncapiDocument } from '@tessera/contracts';
import { consume } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { startBroker, until } from '@tessera/local-stack';
import { identityDatabase, startIdentity } from '../testing/identity.ts';
import { TOPIC } from '../testing/outbox.ts';

test('identity works without a broker; its events wait and are published once there is one', async () => {
  const environment = {
    DATABASE_URL: await identityDatabase(),
    KEY_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
  };
  const alone = await startIdentity({ ...environment, KAFKA_BROKERS: '' });
  const tenant = await alone.people.tenant();
  const owner = await alone.people.caller(tenant, '*');
  const viewer = await alone.people.user({ tenant });
  const changed = await alone.http
    .put(`/api/tenants/${tenant.id}/members/${viewer.id}`)
    .set(owner)
    .send({ policies: [{ action: 'identity.members.list', effect: 'allow' }] });
  expect(changed.status).toBe(200);
  expect((await alone.http.get('/readyz')).status).toBe(200);
  const waiting = await alone.context.database.outboxEvent.findMany({ where: { topic: TOPIC } });
  expect(waiting).toMatchObject([{ key: tenant.id, publishedAt: null }]);
  await alone.stop();

  const broker = await startBroker({ asyncapi: asyncapiDocument() });
  const arrived: unknown[] = [];
  const consumption = consume({
    brokers: broker.brokers,
    clientId: 'test',
    groupId: 'test',
    topics: [TOPIC],
    logger: createLogger('test', 'silent'),
    onConnected: () => undefined,
    onRecord({ value }) {
      arrived.push(JSON.parse(String(value)));
      return undefined;
    },
  });
  try {
    await until(consumption.connected);
    const connected = await startIdentity({
      ...environment,
      KAFKA_BROKERS: broker.brokers.join(','),
    });
    try {
      await until(() => arrived.length > 0);
      expect(arrived).toEqual([waiting[0]?.payload]);
      await until(
        async () =>
          (await connected.context.database.outboxEvent.count({ where: { publishedAt: null } })) ===
          0,
      );
    } finally {
      await connected.stop();
    }
  } finally {
    await consumption.stop();
    await broker.stop();
  }
});
