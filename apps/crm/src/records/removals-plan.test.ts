import { randomUUID } from 'node:crypto';
import { onCitus } from '../testing/distributed-tables.ts';
import { callerIn, openDatabase } from '../testing/records.ts';
import { watchStatements } from '../testing/watched-statements.ts';
import { findRemoved } from './history.ts';

const { database, close } = await openDatabase();
afterAll(close);

test.each([
  ['project_members', 'user_id', 'project_id'],
  ['channel_bots', 'bot_id', 'channel_id'],
])(
  'A record of %s that was deleted is found by its %s in the index',
  async (table, key, parent) => {
    const { tenantId } = callerIn();
    const { source, statements } = watchStatements(database);
    const columns = { [parent]: randomUUID() };
    await findRemoved(source.forTenant(tenantId), { table, key: [key, randomUUID()], columns });
    const [statement] = statements;
    if (!statement) throw new Error('Nothing was read.');
    const rows = await database.forTenant(tenantId).transaction(async (db) => {
      if (onCitus)
        await db.query({ text: "SET LOCAL citus.propagate_set_commands = 'local'", values: [] });
      await db.query({ text: 'SET LOCAL enable_seqscan = off', values: [] });
      await db.query({ text: 'SET LOCAL enable_bitmapscan = off', values: [] });
      const { text, values } = statement;
      return db.query<{ 'QUERY PLAN': string }>({ text: `EXPLAIN ${text}`, values });
    });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Cond: .*COALESCE/);
    expect(plan).not.toContain('Sort');
  },
);
