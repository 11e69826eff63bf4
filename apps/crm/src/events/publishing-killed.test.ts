import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { testedProgram, until } from '@tessera/local-stack';
import { contact } from '../features/contacts/contacts.kind.ts';
import { createRecords } from '../records/records.ts';
import { crmDatabase } from '../testing/crm.ts';
import { type FollowedEvents, followCrmEvents } from '../testing/crm-events.ts';
import { onPartitions } from '../testing/partitioned-tables.ts';
import { callerIn, openDatabase } from '../testing/records.ts';

const CHANGES = 10_000;
const KILLS = 8;

const program = testedProgram('apps/crm/src/testing/killed-publisher');

let url: string;
let crm: Awaited<ReturnType<typeof openDatabase>>;
let followed: FollowedEvents;
let replicas: ChildProcess[];
beforeAll(async () => {
  url = await crmDatabase();
  crm = await openDatabase(url);
  followed = await followCrmEvents();
  replicas = [];
});
afterAll(async () => {
  for (const replica of replicas) await killed(replica);
  await followed.stop();
  await crm.close();
});

const startReplica = (tenantId: string): ChildProcess =>
  spawn(process.execPath, program, {
    env: {
      ...process.env,
      DATABASE_URL: url,
      DATABASE_ROW_SECURITY: `${!onPartitions}`,
      BROKER: followed.brokers[0],
      TENANT: tenantId,
      CHANGES: `${CHANGES}`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });

const killed = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

/** The versions of each record, in the order in which they appear for the first time. */
const versionsByRecord = (
  changes: readonly { readonly record: string; readonly version: number }[],
): Record<string, number[]> => {
  const versions = new Map<string, Set<number>>();
  for (const { record, version } of changes) {
    versions.set(record, (versions.get(record) ?? new Set()).add(version));
  }
  return Object.fromEntries(
    [...versions].sort(([a], [b]) => a.localeCompare(b)).map(([id, set]) => [id, [...set]]),
  );
};

test('10,000 changes reach the broker in the order of each record while replicas and connections are killed', async () => {
  const caller = callerIn();
  const seed = Array.from(
    { length: 200 },
    () => ({ first_name: 'Ada', last_name: 'Doe' }) as never,
  );
  await createRecords(contact, crm.database).addMany(caller, seed);
  replicas = [startReplica(caller.tenantId), startReplica(caller.tenantId)];

  for (let kill = 1; kill <= KILLS; kill += 1) {
    // At points of progress, so that the kills are spread over the changes on any machine.
    await until(() => followed.seen.length >= (CHANGES / (KILLS + 1)) * kill);
    const victim = kill % replicas.length;
    await killed(replicas[victim] as ChildProcess);
    replicas[victim] = startReplica(caller.tenantId);
  }
  const outbox = () => crm.pool.query('SELECT FROM tenant_crm.outbox LIMIT 1');
  const history = async () => {
    const { rows } = await crm.pool.query<{ record: string; version: number }>(
      `SELECT record_id AS record, version FROM tenant_crm.record_changes
       WHERE tenant_id = $1 AND action <> 'create' ORDER BY record_id, version`,
      [caller.tenantId],
    );
    return rows;
  };
  await until(async () => (await history()).length >= CHANGES - seed.length);
  // The replicas end their changes on their own; only then is the history complete.
  for (const replica of replicas) await killed(replica);
  replicas = [startReplica(caller.tenantId)];
  await until(async () => (await outbox()).rowCount === 0);

  const stored = versionsByRecord(await history());
  expect(Object.values(stored).flat().length).toBeGreaterThanOrEqual(CHANGES - seed.length);
  const published = () =>
    followed.seen.map(({ event: { data } }) => ({ record: data.record_id, version: data.version }));
  await until(
    () =>
      new Set(published().map(({ record, version }) => `${record} ${version}`)).size ===
      Object.values(stored).flat().length,
  );
  expect(versionsByRecord(published())).toEqual(stored);
});
