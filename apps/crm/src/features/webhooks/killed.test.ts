import { type ServiceProcess, spawnService, until } from '@tessera/local-stack';
import { createRecords } from '../../records/records.ts';
import { crmDatabase, startCrm, type TestCrm, testEnvironment } from '../../testing/crm.ts';
import { callerIn } from '../../testing/records.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { createWake } from './wake.ts';

const ROUNDS = 4;
const CONTACTS_PER_ROUND = 60;

let crm: TestCrm;
let receiver: WebhookReceiver;
let environment: Record<string, string>;
let replicas: ServiceProcess[];
beforeAll(async () => {
  const databaseUrl = await crmDatabase();
  receiver = await startReceiver();
  const networks = { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' };
  const keys = testEnvironment(databaseUrl, '').KEY_ENCRYPTION_KEYS ?? '';
  const shared = { ...networks, KEY_ENCRYPTION_KEYS: keys, DATABASE_URL: databaseUrl };
  // This process only makes changes: all deliveries are made by those that are killed.
  crm = await startCrm(shared, { enqueueOnly: true });
  environment = { ...testEnvironment(databaseUrl, crm.identity.url), ...shared, LOG_LEVEL: 'info' };
  replicas = [spawnService('crm', environment), spawnService('crm', environment)];
  await Promise.all(replicas.map((replica) => replica.ready()));
});
afterAll(async () => {
  for (const { child, ended } of replicas) {
    child.kill('SIGKILL');
    await ended;
  }
  await receiver.stop();
  await crm.stop();
});

test('Every change reaches the receiver at least once, although the processes that deliver are killed', async () => {
  const { body } = await crm.http
    .post('/api/crm/webhook-endpoints')
    .set(crm.caller())
    .send({ url: receiver.url, event_types: ['crm.contacts.*'] })
    .expect(201);
  const endpoint: string = body.data.id;
  const caller = callerIn(crm.identity.acme.id);
  const contacts = createRecords(contact, crm.context.database);
  const created: string[] = [];
  const arrived = () => new Set(receiver.received.map(({ json }) => json.data.id as string));
  receiver.respond((res) => void setTimeout(() => res.writeHead(204).end(), 20));

  /** As if the time of a lease had passed: the requests of killed processes count as lost, and so do their jobs. */
  const passLease = async (): Promise<void> => {
    await crm.context.pool.query(
      `UPDATE tenant_crm.webhook_deliveries SET next_attempt_at = now() WHERE state = 'sending'`,
    );
    await crm.context.pool.query('UPDATE tenant_crm.webhook_endpoints SET wake_at = NULL');
    const db = crm.context.database.forTenant(caller.tenantId);
    await db.transaction((tx) => createWake(crm.context.jobs)(tx, endpoint));
  };

  for (let round = 0; round < ROUNDS; round += 1) {
    const people = Array.from(
      { length: CONTACTS_PER_ROUND },
      () => ({ first_name: 'Ada', last_name: 'Doe' }) as never,
    );
    created.push(...(await contacts.addMany(caller, people)));
    const target = round * CONTACTS_PER_ROUND + CONTACTS_PER_ROUND / 3;
    await until(() => arrived().size >= target);
    const victim = replicas[round % replicas.length] as ServiceProcess;
    victim.child.kill('SIGKILL');
    await victim.ended;
    replicas[round % replicas.length] = spawnService('crm', environment);
    await passLease();
  }
  await until(() => arrived().size === created.length);
  expect([...arrived()].toSorted()).toEqual(created.toSorted());
  const unfinished = async () => {
    const { rows } = await crm.context.pool.query(
      `SELECT count(*)::int AS all, count(*) FILTER (WHERE state = 'succeeded')::int AS succeeded
       FROM tenant_crm.webhook_deliveries`,
    );
    return rows[0];
  };
  await passLease();
  await until(async () => (await unfinished()).succeeded === created.length);
  expect((await unfinished()).all).toBe(created.length);
  // A repeated request has the id of the first one.
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  expect(ids.size).toBe(created.length);
});
