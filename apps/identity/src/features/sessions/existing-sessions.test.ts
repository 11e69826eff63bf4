import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@tessera/database-kit';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';

const migrations = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const SESSION_ACTIVITY = '20261122014324_device_networks_and_session_activity';

test('an upgrade applies no idle timeout to existing sessions, which may be remembered ones', async () => {
  const { url } = await freshDatabase('empty', async () => {});
  const earlier = await mkdtemp(path.join(tmpdir(), 'tessera-migrations-'));
  const pool = new pg.Pool({ connectionString: url });
  try {
    for (const name of await readdir(migrations)) {
      if (name >= SESSION_ACTIVITY) continue;
      await cp(path.join(migrations, name), path.join(earlier, name), { recursive: true });
    }
    await migrate(url, earlier);
    const userId = randomUUID();
    await pool.query(
      `INSERT INTO identity.users (id, email, first_name, last_name, password_hash, updated_at)
      VALUES ($1, 'ada@example.test', 'Ada', 'Tester', 'x', now())`,
      [userId],
    );
    await pool.query(
      `INSERT INTO identity.sessions (id, user_id, secret_hash, expires_at, amr)
      VALUES ($1, $2, $3, now() + interval '30 days', '{pwd}')`,
      [randomUUID(), userId, randomBytes(32)],
    );
    await migrate(url, migrations);
    const { rows } = await pool.query('SELECT is_remembered FROM identity.sessions');
    expect(rows).toEqual([{ is_remembered: true }]);
  } finally {
    await pool.end();
    await rm(earlier, { recursive: true });
  }
});
