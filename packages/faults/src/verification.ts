import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Journal } from './load/journal.ts';
import { type OperationContext, sendWrite } from './load/operations.ts';
import type { Service, System } from './system.ts';

const LIMIT_MS = 60_000;
const PAUSE_MS = 200;

/** Sends everything again that has no 2xx response, with the same key, until it has one. */
export const repeatUnanswered = async (context: OperationContext): Promise<readonly string[]> => {
  const { journal, target } = context;
  const problems: string[] = [];
  for (const deadline = performance.now() + LIMIT_MS; journal.unanswered.length > 0; ) {
    for (const write of journal.unanswered) {
      const member = target.members.find(({ tenant }) => tenant === write.tenant);
      if (!member) throw new Error(`Nobody belongs to ${write.tenant}.`);
      const { kind, detail } = await sendWrite(context, member, write);
      if (kind === 'wrong') problems.push(`repeated ${write.name}: ${detail}`);
      if (performance.now() < deadline) continue;
      problems.push(`${write.name} could not be written: ${detail}`);
      return problems;
    }
    await delay(PAUSE_MS);
  }
  return problems;
};

const rowsOf = async <Row extends pg.QueryResultRow>(
  { stack }: System,
  database: Service,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> => {
  const client = new pg.Client({ connectionString: stack.postgres.url(database) });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
};

/** Reads until the result is as it should be, up to a minute; returns the last result. */
const lastOf = async <T>(
  read: () => T | Promise<T>,
  isRight: (result: T) => boolean,
): Promise<T> => {
  for (const deadline = performance.now() + LIMIT_MS; ; await delay(PAUSE_MS)) {
    const result = await read();
    if (isRight(result) || performance.now() >= deadline) return result;
  }
};

interface Stored {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
}

const storedIn = async (system: System, run: string): Promise<readonly Stored[]> => {
  const rows = await rowsOf<{ id: string; tenant_id: string; first_name: string }>(
    system,
    'crm',
    `SELECT id, tenant_id, first_name FROM tenant_crm.contacts
     WHERE split_part(first_name, '-', 2) = $1`,
    [run],
  );
  const { owner, other_owner: other } = system.stack.system;
  const slugs = new Map([owner, other].map((of) => [of.tenant_id, of.tenant_slug]));
  return rows.map(({ id, tenant_id, first_name: name }) => ({
    id,
    tenant: slugs.get(tenant_id) ?? tenant_id,
    name,
  }));
};

/** Every write exists exactly once, in its tenant, under the id of its response, and nothing else does. */
export const verifyWrites = async (
  system: System,
  journal: Journal,
  run: string,
): Promise<readonly string[]> => {
  const stored = await storedIn(system, run);
  const problems = journal.writes.flatMap(({ name, tenant, id }) => {
    const found = stored.filter((row) => row.name === name);
    const isRight = found.length === 1 && found[0]?.id === id && found[0]?.tenant === tenant;
    return isRight ? [] : [`${name} of ${tenant} (${id}) is stored as ${JSON.stringify(found)}`];
  });
  return stored.length > journal.writes.length
    ? [...problems, `${stored.length} contacts are stored, ${journal.writes.length} were sent`]
    : problems;
};

/** Waits until all events have arrived, up to a minute; returns the ids of records whose event is missing. */
export const missingEvents = async (
  { events }: System,
  journal: Journal,
): Promise<readonly string[]> => {
  const missing = (): readonly string[] =>
    journal.answered.flatMap(({ id }) => (id === undefined || events.hasCreated(id) ? [] : [id]));
  return lastOf(missing, (ids) => ids.length === 0);
};

/** The events that a service still has to publish after a minute. */
export const unpublished = (system: System): Promise<number> => {
  const count = async (database: Service, where: string): Promise<number> => {
    const [row] = await rowsOf<{ count: string }>(
      system,
      database,
      `SELECT count(*) FROM ${where}`,
    );
    return Number(row?.count);
  };
  const left = async (): Promise<number> =>
    (await count('crm', 'tenant_crm.outbox')) +
    (await count('identity', 'identity.outbox WHERE published_at IS NULL'));
  return lastOf(left, (events) => events === 0);
};
