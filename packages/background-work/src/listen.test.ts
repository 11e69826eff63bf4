import { createHook } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

const { jest } = import.meta;
afterEach(() => jest.restoreAllMocks());

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

test('The checks of a connection leave nothing in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const queries = jest.spyOn(pg.Client.prototype, 'query');
  let connections = 0;
  const listener = listen({
    directUrl: url,
    applicationName: 'test listener',
    channel: 'any',
    logger: createLogger('test', 'silent'),
    onNotification: () => undefined,
    onListening: () => {
      connections += 1;
    },
    checkMs: 1,
  });
  await until(() => connections === 1);
  const promises: WeakRef<object>[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'PROMISE') promises.push(new WeakRef(resource));
    },
  }).enable();
  const checks = (): number =>
    queries.mock.calls.filter(([text]) => `${text}` === 'SELECT 1').length;
  await until(() => checks() >= 300);
  hook.disable();
  // It remembers the promises that it returned.
  queries.mockClear();
  expect(promises.length).toBeGreaterThan(300);
  await until(() => {
    collectGarbage();
    return promises.filter((promise) => promise.deref()).length < 100;
  });
  expect(connections).toBe(1);
  await listener.stop();
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
