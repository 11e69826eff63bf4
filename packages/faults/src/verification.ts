import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Journal } from './load/journal.ts';
import { type OperationContext, sendWrite } from './load/operations.ts';
import type { System } from './system.ts';

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

interface Stored {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
}

const storedIn = async ({ stack }: System, run: string): Promise<readonly Stored[]> => {
  const client = new pg.Client({ connectionString: stack.postgres.url('crm') });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; tenant_id: string; first_name: string }>(
      `SELECT id, tenant_id, first_name FROM tenant_crm.contacts
       WHERE split_part(first_name, '-', 2) = $1`,
      [run],
    );
    const { owner, other_owner: other } = stack.system;
    const slugs = new Map([owner, other].map((of) => [of.tenant_id, of.tenant_slug]));
    return rows.map(({ id, tenant_id, first_name: name }) => ({
      id,
      tenant: slugs.get(tenant_id) ?? tenant_id,
      name,
    }));
  } finally {
    await client.end();
  }
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
  const missing = (): string[] =>
    journal.answered.flatMap(({ id }) => (id === undefined || events.hasCreated(id) ? [] : [id]));
  for (const deadline = performance.now() + LIMIT_MS; performance.now() < deadline; ) {
    if (missing().length === 0) return [];
    await delay(PAUSE_MS);
  }
  return missing();
};

/** The events that a service still has to publish. */
export const unpublished = async ({ stack }: System): Promise<number> => {
  const count = async (database: string, sql: string): Promise<number> => {
    const client = new pg.Client({ connectionString: stack.postgres.url(database) });
    await client.connect();
    try {
      return Number((await client.query<{ count: string }>(sql)).rows[0]?.count);
    } finally {
      await client.end();
    }
  };
  const left = async (): Promise<number> =>
    (await count('crm', 'SELECT count(*) FROM tenant_crm.outbox')) +
    (await count('identity', 'SELECT count(*) FROM identity.outbox WHERE published_at IS NULL'));
  for (const deadline = performance.now() + LIMIT_MS; performance.now() < deadline; ) {
    if ((await left()) === 0) return 0;
    await delay(PAUSE_MS);
  }
  return left();
};
