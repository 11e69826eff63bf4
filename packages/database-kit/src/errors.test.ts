import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freshDatabase } from '@tessera/local-stack';
import type pg from 'pg';
import { isBusy, isDatabaseUnavailable, isUniqueViolation, violatedConstraint } from './errors.ts';
import { migrate } from './migrations.ts';
import { createAdapter, createPool } from './pool.ts';

/** The members of the generated client that are used here; its code exists only after `generate`. */
interface Client {
  author: {
    create(query: { data: { id: string; name: string; email: string } }): Promise<unknown>;
  };
  book: { create(query: { data: object }): Promise<unknown> };
  $queryRaw(sql: TemplateStringsArray, ...values: unknown[]): Promise<unknown>;
  $queryRawUnsafe(sql: string): Promise<unknown>;
  $transaction<T>(
    work: (client: Client) => Promise<T>,
    limits?: { maxWait?: number; timeout?: number },
  ): Promise<T>;
  $disconnect(): Promise<void>;
}

const author = {
  id: '019aa0f5-0000-7000-8000-000000000001',
  name: 'Ada',
  email: 'ada@example.com',
};
const fixture = fileURLToPath(new URL('../fixture', import.meta.url));
const pools: pg.Pool[] = [];
let PrismaClient: new (options: { adapter: ReturnType<typeof createAdapter> }) => Client;
let url: string;
let pool: pg.Pool;
let prisma: Client;

beforeAll(async () => {
  const tool = fileURLToPath(new URL('../tools/prisma.mjs', import.meta.url));
  await promisify(execFile)(process.execPath, [tool, fixture, 'generate']);
  ({ PrismaClient } = await import(`${fixture}/generated/prisma/client.ts`));
  ({ url } = await freshDatabase('library', (url) => migrate(url, `${fixture}/prisma/migrations`)));
  pool = createPool(url, { applicationName: 'errors-test' });
  prisma = new PrismaClient({ adapter: createAdapter(pool) });
  await prisma.author.create({ data: author });
});

afterAll(async () => {
  await prisma?.$disconnect();
  await Promise.all([pool?.end(), ...pools.map((other) => other.end())]);
});

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('A violated unique index is identified by its name', () => {
  const other = '019aa0f5-0000-7000-8000-000000000002';
  const attempts: [string, () => Promise<unknown>, string][] = [
    [
      'a model',
      () => prisma.author.create({ data: { ...author, id: other } }),
      'authors_email_key',
    ],
    [
      'a primary key',
      () => prisma.author.create({ data: { ...author, email: 'a@b' } }),
      'authors_pkey',
    ],
    [
      'a transaction',
      () =>
        prisma.$transaction((inside) => inside.author.create({ data: { ...author, id: other } })),
      'authors_email_key',
    ],
    [
      'raw SQL',
      () =>
        prisma.$queryRaw`INSERT INTO library.authors VALUES (${other}::uuid, 'B', ${author.email})`,
      'authors_email_key',
    ],
    [
      'pg itself',
      () =>
        pool.query('INSERT INTO library.authors VALUES ($1, $2, $3)', [other, 'B', author.email]),
      'authors_email_key',
    ],
  ];
  test.each(attempts)('through %s', async (_, attempt, index) => {
    const error = await failureOf(attempt());
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, index)).toBe(true);
    expect(isUniqueViolation(error, 'another_key')).toBe(false);
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

describe('A violated foreign key is identified by its name', () => {
  const nobody = '019aa0f5-0000-7000-8000-000000000003';
  const book = { id: nobody, authorId: nobody, title: 'B', tags: [], pages: 1 };
  const sql = `INSERT INTO library.books VALUES ($1, $2, 'B', 'NOVEL', '{}', 1)`;
  const raised = `DO $$ BEGIN
    RAISE foreign_key_violation USING CONSTRAINT = 'books_author_id_fkey'; END $$`;
  const attempts: [string, () => Promise<unknown>][] = [
    ['a model', () => prisma.book.create({ data: book })],
    ['a transaction', () => prisma.$transaction((inside) => inside.book.create({ data: book }))],
    ['pg itself', () => pool.query(sql, [nobody, nobody])],
    ['a trigger that raises the same error', () => pool.query(raised)],
  ];
  test.each(attempts)('through %s', async (_, attempt) => {
    const error = await failureOf(attempt());
    expect(violatedConstraint(error)).toEqual({
      kind: 'foreign_key',
      constraint: 'books_author_id_fkey',
    });
    expect(isUniqueViolation(error)).toBe(false);
  });
});

describe('A violated constraint is identified by its kind and name', () => {
  const id = '019aa0f5-0000-7000-8000-000000000004';
  const violations = [
    [
      'foreign_key',
      'books_author_id_fkey',
      `INSERT INTO library.books VALUES ('${id}', '${id}', 'B', 'NOVEL', '{}', 1)`,
    ],
    ['unique', 'authors_pkey', `INSERT INTO library.authors VALUES ('${author.id}', 'B')`],
    ['check', 'entries_check', "INSERT INTO library.entries VALUES (0, '[1,2]')"],
    ['exclusion', 'entries_at_once', "INSERT INTO library.entries VALUES (2, '[2,5]')"],
  ] as const;

  beforeAll(() =>
    pool.query(`CREATE TABLE library.entries (n int CONSTRAINT entries_check CHECK (n > 0),
        at int4range, CONSTRAINT entries_at_once EXCLUDE USING gist (at WITH &&));
      INSERT INTO library.entries VALUES (1, '[1,3]')`),
  );

  test.each(violations)('%s', async (kind, constraint, text) => {
    const errors = [
      await failureOf(pool.query(text)),
      await failureOf(prisma.$queryRawUnsafe(text)),
      await failureOf(prisma.$transaction((inside) => inside.$queryRawUnsafe(text))),
    ];
    for (const error of errors) expect(violatedConstraint(error)).toEqual({ kind, constraint });
  });

  test.each(violations)(
    '%s on a shard of Citus, whose errors name it only in the message',
    async (kind, constraint, text) => {
      const error = (await failureOf(pool.query(text))) as pg.DatabaseError;
      const message = error.message.replace(`"${constraint}"`, `"${constraint}_102041"`);
      const onShard = { code: error.code, message };
      expect(violatedConstraint(onShard)).toEqual({ kind, constraint });
      expect(violatedConstraint({ ...onShard, constraint: `${constraint}_102041` })).toEqual({
        kind,
        constraint,
      });
    },
  );

  test('and other errors with such a message are not violations', async () => {
    const quoted = 'violates unique constraint "authors_pkey"';
    const error = await failureOf(pool.query('SELECT $1::int', [quoted]));
    expect(String(error)).toContain('violates unique constraint');
    expect(violatedConstraint(error)).toBeUndefined();
  });
});

test('Other errors are not violations', async () => {
  const syntax = await failureOf(prisma.$queryRaw`SELEC 1`);
  for (const error of [syntax, new Error('no'), undefined, null, 'text', { cause: { cause: 1 } }]) {
    expect(isUniqueViolation(error)).toBe(false);
    expect(violatedConstraint(error)).toBeUndefined();
    expect(isDatabaseUnavailable(error)).toBe(false);
  }
});

describe('An unavailable database is recognised', () => {
  function client(address: string, options: { size?: number; statementTimeout?: number }) {
    const own = createPool(address, { applicationName: 'errors-test', ...options });
    pools.push(own);
    return { own, prisma: new PrismaClient({ adapter: createAdapter(own) }) };
  }

  test('when nothing listens', async () => {
    const gone = client('postgresql://postgres:x@127.0.0.1:1/x', {});
    expect(
      isDatabaseUnavailable(await failureOf(gone.prisma.author.create({ data: author }))),
    ).toBe(true);
    expect(isDatabaseUnavailable(await failureOf(gone.prisma.$transaction(async () => 1)))).toBe(
      true,
    );
    expect(isDatabaseUnavailable(await failureOf(gone.prisma.$queryRaw`SELECT 1`))).toBe(true);
    expect(isDatabaseUnavailable(await failureOf(gone.own.query('SELECT 1')))).toBe(true);
  });

  test('when no connection becomes free in time', async () => {
    const busy = client(url, { size: 1 });
    const holder = await busy.own.connect();
    const error = await failureOf(busy.prisma.author.create({ data: author }));
    const begin = await failureOf(busy.prisma.$transaction(async () => 1));
    holder.release();
    expect([isBusy(error), isDatabaseUnavailable(error)]).toEqual([true, false]);
    // Prisma waits for less time than the pool by default.
    expect(isDatabaseUnavailable(begin)).toBe(true);
  });

  test('when a transaction cannot begin, or exceeds its time limit', async () => {
    const busy = client(url, { size: 1 });
    const holder = await busy.own.connect();
    const late = await failureOf(busy.prisma.$transaction(async () => 1, { maxWait: 50 }));
    holder.release();
    const long = await failureOf(
      busy.prisma.$transaction(
        async (inside) => {
          await inside.$queryRaw`SELECT 1 FROM pg_sleep(0.2)`;
          await inside.$queryRaw`SELECT 1`;
        },
        { timeout: 50 },
      ),
    );
    expect(isDatabaseUnavailable(late)).toBe(true);
    expect(isDatabaseUnavailable(long)).toBe(true);
  });

  test('when the server closes the connection during a query', async () => {
    const error = await failureOf(
      prisma.$queryRaw`SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)`,
    );
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  test('when the statement exceeds its time limit', async () => {
    const slow = client(url, { statementTimeout: 50 });
    const error = await failureOf(slow.prisma.$queryRaw`SELECT pg_sleep(10)`);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});
