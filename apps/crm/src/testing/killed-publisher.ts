import { connect } from 'node:net';
import { createPublisher } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { createDatabase } from '../database.ts';
import { publishOutbox } from '../events/event-publisher.ts';
import { contact } from '../features/contacts/contacts.kind.ts';
import { createRecords } from '../records/records.ts';
import { callerIn } from './records.ts';

/**
 * A replica of CRM that changes contacts of a tenant until their history has a number of rows, and publishes the
 * events, while its connections to the broker break again and again. Run as a process of its own, which is killed.
 */
const env = (name: string): string => process.env[name] ?? '';
const [url, tenantId, total] = [env('DATABASE_URL'), env('TENANT'), Number(env('CHANGES'))];
const logger = createLogger('killed', 'silent');
const rowSecurity = env('DATABASE_ROW_SECURITY') === 'true';
const database = createDatabase({ url, poolSize: 4, rowSecurity, publishesEvents: true }, logger);
const contacts = createRecords(contact, database);
const caller = callerIn(tenantId);

const publisher = createPublisher({
  brokers: [env('BROKER')],
  clientId: 'killed',
  timeoutMs: 2000,
  dial(host, port) {
    const socket = connect({ host, port });
    // After a few batches, the connection breaks between a request and its answer.
    let left = 20 + Math.floor(Math.random() * 40);
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (...args: unknown[]): boolean => {
      const written = write(...args);
      left -= 1;
      if (left === 0) socket.destroy(new Error('the connection broke'));
      return written;
    };
    return socket;
  },
});
publishOutbox({ database: { directUrl: url, rowSecurity }, publisher, logger, batch: 100 });

const count = async (): Promise<number> => {
  const { rows } = await database.pool.query(
    'SELECT count(*)::int AS count FROM tenant_crm.record_changes WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0].count;
};

const { rows } = await database.pool.query<{ id: string }>(
  'SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 ORDER BY id',
  [tenantId],
);
const ids = rows.map(({ id }) => id);
const changed = (): never => ({ first_name: `Ada ${Math.random()}` }) as never;

/** Changes many records in one statement, and some alone. */
const change = async (): Promise<void> => {
  const start = Math.floor(Math.random() * ids.length);
  const chosen = ids.slice(start, start + 40);
  await contacts.updateMany(
    caller,
    chosen.map((id) => ({ id, change: changed() })),
  );
  for (const id of chosen.slice(0, 3)) await contacts.update(caller, id, changed(), undefined);
};

const lane = async (): Promise<void> => {
  while ((await count()) < total) await change();
};
await Promise.all([lane(), lane()]);
