import { setTimeout as pause } from 'node:timers/promises';
import { createLogger, EventQueue, type ServerSentEvent } from '@tessera/http-kit';
import { freshDatabase, until } from '@tessera/local-stack';
import pg from 'pg';
import { EventHub } from './event-hub.ts';
import { follow } from './follow.ts';

interface Entry {
  readonly position: number;
}

const PAGE = 7;
let pool: pg.Pool;
let url: string;
let hub: EventHub<Entry>;
let reads: number[];
let isBroken = false;
let isUnavailable = false;
let statements = 0;

beforeAll(async () => {
  ({ url } = await freshDatabase('empty', async () => {}));
  pool = new pg.Pool({ connectionString: url });
  await pool.query('CREATE TABLE topics (name text PRIMARY KEY, newest bigint NOT NULL)');
  await pool.query(
    'CREATE TABLE entries (topic text, position bigint, PRIMARY KEY (topic, position))',
  );
});
afterAll(() => pool.end());

const read = async (topic: string, after: number, limit = PAGE): Promise<Entry[]> => {
  const { rows } = await pool.query(
    'SELECT position::int FROM entries WHERE topic = $1 AND position > $2 ORDER BY position LIMIT $3',
    [topic, after, limit],
  );
  return rows;
};

const newest = async (topic: string): Promise<number> => {
  const { rows } = await pool.query('SELECT newest::int FROM topics WHERE name = $1', [topic]);
  return rows[0]?.newest ?? 0;
};

beforeEach(() => {
  reads = [];
  isBroken = false;
  hub = new EventHub<Entry>({
    directUrl: url,
    applicationName: 'test hub',
    channel: 'test_events',
    logger: createLogger('test', 'silent'),
    announced(payload) {
      const [topic = '', position] = payload.split(' ');
      return { topic, position: Number(position) };
    },
    async read(topic, after) {
      if (isBroken) throw new Error('The database is unavailable.');
      statements += 1;
      const found = await read(topic, after);
      reads.push(...found.map(({ position }) => position));
      return found;
    },
    async newest(topic) {
      if (isUnavailable) throw new Error('The database is unavailable.');
      return newest(topic);
    },
  });
  hub.start();
});
afterEach(() => hub.stop());

/** Adds an event; its transaction holds the row that numbers the events of the topic. */
const add = async (client: Pick<pg.Pool, 'query'>, topic: string): Promise<number> => {
  const { rows } = await client.query(
    `WITH numbered AS (
       INSERT INTO topics VALUES ($1, 1)
       ON CONFLICT (name) DO UPDATE SET newest = topics.newest + 1 RETURNING newest
     ), added AS (
       INSERT INTO entries SELECT $1, newest FROM numbered
     )
     SELECT newest::int AS position, pg_notify('test_events', $1 || ' ' || newest) FROM numbered`,
    [topic],
  );
  return rows[0].position;
};

const commit = async (topic: string, waitMs = 0): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await add(client, topic);
    await pause(waitMs);
    await client.query(Math.random() < 0.2 ? 'ROLLBACK' : 'COMMIT');
  } finally {
    client.release();
  }
};

/** Follows a topic and collects the ids it was sent. */
const follower = (topic: string, after?: number, limit = 10_000) => {
  const ids: number[] = [];
  const queue = new EventQueue<ServerSentEvent>({
    limit,
    overflow: { event: 'closed', data: null },
  });
  const eventOf = ({ position }: Entry) => ({ event: 'entry', id: `${position}`, data: null });
  const events = follow(
    hub,
    {
      topic,
      queue,
      deliver: (entry) => queue.push(eventOf(entry)),
      async catchUp(from) {
        if (from === undefined)
          return { events: [], position: await newest(topic), hasMore: false };
        const found = await read(topic, from, PAGE + 1);
        const page = found.slice(0, PAGE);
        return {
          events: page.map(eventOf),
          position: page.at(-1)?.position ?? from,
          hasMore: found.length > PAGE,
        };
      },
    },
    after,
  );
  const done = (async () => {
    for await (const { id } of events) ids.push(Number(id));
  })();
  return {
    ids,
    async stop() {
      queue.end();
      await done;
    },
  };
};

const upTo = (last: number, after = 0): number[] =>
  Array.from({ length: last - after }, (_, index) => after + index + 1);

test('Every stream gets every event once and in order, wherever it begins, while many writers commit', async () => {
  const topic = 'busy';
  const writers = Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 25; n += 1) await commit(topic, Math.random() * 3);
    }),
  );
  const followers: { readonly after: number; readonly stream: ReturnType<typeof follower> }[] = [];
  let isWriting = true;
  void writers.then(() => {
    isWriting = false;
  });
  while (isWriting && followers.length < 30) {
    const after = Math.floor(Math.random() * ((await newest(topic)) + 1));
    followers.push({ after, stream: follower(topic, after) });
    await pause(5);
  }
  await writers;
  const last = await newest(topic);
  expect(last).toBeGreaterThan(100);
  for (const { after, stream } of followers) {
    await until(() => stream.ids.at(-1) === last || after === last);
    expect(stream.ids).toEqual(upTo(last, after));
  }
  await Promise.all(followers.map(({ stream }) => stream.stop()));
});

test('An event whose transaction commits late is not overtaken by a later one', async () => {
  const topic = 'late';
  const stream = follower(topic, 0);
  const [late, early] = await Promise.all([pool.connect(), pool.connect()]);
  await late.query('BEGIN');
  await add(late, topic);
  await early.query('BEGIN');
  let isAdded = false;
  const second = add(early, topic).then(async () => {
    isAdded = true;
    await early.query('COMMIT');
  });
  await until(async () => {
    const { rows } = await pool.query('SELECT FROM pg_locks WHERE NOT granted');
    return rows.length > 0;
  });
  expect(isAdded).toBe(false);
  await late.query('COMMIT');
  await second;
  late.release();
  early.release();
  await until(() => stream.ids.length === 2);
  expect(stream.ids).toEqual([1, 2]);
  await stream.stop();
});

test('Each event is read once, however many streams follow the topic', async () => {
  const topic = 'shared';
  const streams = Array.from({ length: 50 }, () => follower(topic, 0));
  // Until then, streams read what is stored by themselves.
  await until(async () => {
    const client = await pool.connect();
    await add(client, topic).finally(() => client.release());
    return streams.every(({ ids }) => ids.length > 2);
  });
  const before = await newest(topic);
  for (let n = 0; n < 20; n += 1) await add(pool, topic);
  const last = await newest(topic);
  await until(() => streams.every(({ ids }) => ids.at(-1) === last));
  expect(reads.filter((position) => position > before)).toEqual(upTo(last, before));
  await Promise.all(streams.map((stream) => stream.stop()));
});

test('An announced event is read by one statement', async () => {
  const topic = 'cheap';
  const stream = follower(topic);
  await until(async () => {
    await add(pool, topic);
    return stream.ids.length > 0;
  });
  const last = await newest(topic);
  await until(() => stream.ids.at(-1) === last);
  const statementsOfNext = async (): Promise<number> => {
    const [before, id] = [statements, (stream.ids.at(-1) ?? 0) + 1];
    await add(pool, topic);
    await until(() => stream.ids.at(-1) === id);
    return statements - before;
  };
  // The reads of the start may take a while to end.
  await until(async () => (await statementsOfNext()) === 1);
  for (let n = 1; n <= 10; n += 1) expect(await statementsOfNext()).toBe(1);
  await stream.stop();
});

test('A stream ends although the database is unavailable and it has not begun', async () => {
  isUnavailable = true;
  const stream = follower('unavailable', 0);
  await stream.stop();
  expect(stream.ids).toEqual([]);
  isUnavailable = false;
});

test('A lost connection and an unavailable database lose no event', async () => {
  const topic = 'unreliable';
  const stream = follower(topic, 0);
  await add(pool, topic);
  await until(() => stream.ids.length === 1);
  isBroken = true;
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test hub'`,
  );
  await add(pool, topic);
  await add(pool, topic);
  isBroken = false;
  await until(() => stream.ids.length === 3);
  expect(stream.ids).toEqual([1, 2, 3]);
  await stream.stop();
});

test('A stream that begins without a position gets only what follows', async () => {
  const topic = 'new';
  for (let n = 0; n < 3; n += 1) await add(pool, topic);
  const stream = follower(topic);
  await until(async () => {
    await add(pool, topic);
    return stream.ids.length > 0;
  });
  expect(stream.ids[0]).toBeGreaterThan(3);
  await stream.stop();
});

test('A reader that is too slow ends with a reason, and others continue', async () => {
  const topic = 'slow';
  const fast = follower(topic, 0);
  await add(pool, topic);
  await until(() => fast.ids.length === 1);
  const queue = new EventQueue<ServerSentEvent>({
    limit: 2,
    overflow: { event: 'closed', data: null },
  });
  const subscription = hub.subscribe(topic, ({ position }) =>
    queue.push({ event: 'entry', id: `${position}`, data: null }),
  );
  await subscription.started;
  for (let n = 0; n < 3; n += 1) await add(pool, topic);
  await until(() => fast.ids.length === 4);
  subscription.close();
  const sent: unknown[] = [];
  for await (const event of queue) sent.push(event);
  expect(sent).toEqual([{ event: 'closed', data: null }]);
  await fast.stop();
});
