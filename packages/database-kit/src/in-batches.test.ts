import { freshDatabase } from '@tessera/local-stack';
import type pg from 'pg';
import { createPool, inBatches } from './index.ts';

let url: string;
let pool: pg.Pool;
beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
  pool = createPool(url, { applicationName: 'in-batches', size: 1 });
});
afterAll(() => pool.end());

const numbers = (to: number) => ({
  text: 'SELECT generate_series(1, $1::int) AS n',
  values: [to],
});
const free = async (): Promise<unknown> => (await pool.query('SELECT 1 AS one')).rows;

test('All rows come, so many at a time, and the connection is free again', async () => {
  const sizes: number[] = [];
  for await (const rows of inBatches(pool, numbers(7), 3)) sizes.push(rows.length);
  expect(sizes).toEqual([3, 3, 1]);
  expect(await free()).toEqual([{ one: 1 }]);
});

test('Whoever stops early gives the connection back, and nothing runs on', async () => {
  for await (const rows of inBatches<{ n: number }>(pool, numbers(1_000_000_000), 2)) {
    expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
    break;
  }
  expect(await free()).toEqual([{ one: 1 }]);
});

test('What fails is told, and the next statement has a connection', async () => {
  const failing = { text: 'SELECT 1 / (2 - generate_series(1, 3)) AS n', values: [] };
  await expect(async () => {
    for await (const _ of inBatches(pool, failing, 1));
  }).rejects.toThrow('division by zero');
  expect(await free()).toEqual([{ one: 1 }]);
});

test('A connection that the server ends between two batches is an error, and is replaced', async () => {
  const other = createPool(url, { applicationName: 'killer', size: 1 });
  const reading = (async () => {
    for await (const _ of inBatches(pool, numbers(9), 1)) {
      await other.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'in-batches' AND datname = current_database()`);
    }
  })();
  await expect(reading).rejects.toThrow();
  expect(await free()).toEqual([{ one: 1 }]);
  await other.end();
});

test('The limit on a statement counts for each batch, and not for all of them', async () => {
  const { rows } = await pool.query('SHOW statement_timeout');
  await pool.query('SET statement_timeout = 2000');
  const slow = { text: 'SELECT generate_series(1, 25) AS n, pg_sleep(0.1)', values: [] };
  let read = 0;
  for await (const batch of inBatches(pool, slow, 1)) read += batch.length;
  expect(read).toBe(25);
  await pool.query(`SET statement_timeout = '${rows[0].statement_timeout}'`);
});
