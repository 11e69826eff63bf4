import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createLogger } from '@tessera/http-kit';
import { testedProgram, until } from '@tessera/local-stack';
import pg from 'pg';
import { startIdentity, testEnvironment } from '../../testing/identity.ts';
import { startAccountDeletions } from './account-deletion.sweep.ts';

const program = testedProgram('apps/identity/src/testing/account-sweeper');

test('if a process is killed during a deletion, the account stays intact and another process deletes it', async () => {
  const identity = await startIdentity({}, { sweepsAccounts: false });
  const { database, config, pool, accountDeletionRepository: repository } = identity.context;
  const { url } = config.database;
  const tenant = await identity.people.tenant();
  await identity.people.user({ tenant, role: 'owner' });
  const { id: userId } = await identity.people.user({ tenant, role: 'member' });
  const where = { userId };
  await database.accountDeletion.create({ data: { userId, dueAt: new Date() } });
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN');
  // The membership has been removed when the sweep reaches the user.
  await holder.query('SELECT FROM identity.users WHERE id = $1 FOR KEY SHARE', [userId]);
  const child = spawn(process.execPath, program, {
    env: { ...process.env, ...testEnvironment(url) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const waiting = async (): Promise<number> => {
    const { rows } = await pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
       AND query LIKE '%identity.users%FOR UPDATE%' AND pid <> pg_backend_pid()
       AND state <> 'idle'`,
    );
    return rows.length;
  };
  try {
    await until(async () => (await waiting()) === 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await holder.query('ROLLBACK');
    await until(async () => (await waiting()) === 0);
    expect(await database.membership.count({ where })).toBe(1);
    expect(await database.outboxEvent.count({ where: { key: userId } })).toBe(0);

    const logger = createLogger('test', 'silent');
    const deletions = startAccountDeletions({ repository, logger });
    await until(async () => (await deletions.sweep()).deleted === 1);
    await deletions.stop();
    expect(await database.user.count({ where: { id: userId } })).toBe(0);
    expect(
      await database.outboxEvent.count({
        where: { key: userId, topic: 'identity.user.deactivated' },
      }),
    ).toBe(1);
  } finally {
    child.kill('SIGKILL');
    await holder.end();
    await identity.stop();
  }
});
