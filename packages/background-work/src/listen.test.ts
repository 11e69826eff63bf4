import { createLogger } from '@tessera/http-kit';
import { freshDatabase, until } from '@tessera/local-stack';
import pg from 'pg';
import { listen } from './listen.ts';

let pool: pg.Pool;
let url: string;
beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
  pool = new pg.Pool({ connectionString: url });
});
afterAll(() => pool.end());

const listeners = async (): Promise<number> => {
  const { rows } = await pool.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'test listener'`,
  );
  return rows[0].count;
};

test('A listener receives notifications, reconnects when its connection breaks, and ends when it is stopped', async () => {
  const heard: string[] = [];
  let connections = 0;
  const listener = listen({
    directUrl: url,
    applicationName: 'test listener',
    channel: 'Some "channel"',
    logger: createLogger('test', 'silent'),
    onNotification: (payload) => void heard.push(payload),
    onListening: () => {
      connections += 1;
    },
  });
  await until(() => connections === 1);
  await pool.query("SELECT pg_notify($1, 'one')", ['Some "channel"']);
  await until(() => heard.length === 1);

  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test listener'`,
  );
  await until(() => connections === 2);
  await pool.query("SELECT pg_notify($1, 'two')", ['Some "channel"']);
  await until(() => heard.length === 2);
  expect(heard).toEqual(['one', 'two']);

  await listener.stop();
  await until(async () => (await listeners()) === 0);
});

test('A listener that never reached the database can be stopped', async () => {
  const listener = listen({
    directUrl: 'postgres://nobody@127.0.0.1:1/none',
    applicationName: 'test listener',
    channel: 'any',
    logger: createLogger('test', 'silent'),
    onNotification: () => undefined,
  });
  await listener.stop();
});
