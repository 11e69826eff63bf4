import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { asyncapiDocument } from '@tessera/contracts';
import { type Broker, startBroker, testedProgram, until } from '@tessera/local-stack';
import { enqueue } from '../outbox/outbox.ts';
import { change, type TestOutbox } from './outbox.ts';

export interface KillPlan {
  readonly outbox: TestOutbox;
  readonly changes: number;
  /** How often the relay's process is killed and started again, and how often the broker. */
  readonly kills: { readonly relay: number; readonly broker: number };
  /** The same one kills at the same points of progress. */
  readonly seed: number;
}

/** Ids of events, by topic and key, in order. */
export type Sequences = Record<string, string[]>;

/** A sequence of numbers from 0 to below 1 that a seed determines (Park and Miller's generator). */
const randomNumbers = (seed: number): (() => number) => {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

const program = testedProgram('apps/identity/src/testing/noting-relay');

const spawnRelay = (environment: Record<string, string>): ChildProcess =>
  spawn(process.execPath, program, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });

const killed = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

/** As features do: policies of tenants, and tokens of users, who have keys of their own. */
const makeChange = (
  { database, tenantIds }: TestOutbox,
  users: readonly string[],
  pick: number,
): Promise<void> => {
  const key = Math.floor(pick * (tenantIds.length + users.length));
  const tenantId = tenantIds[key];
  if (tenantId !== undefined) return change(database, tenantId);
  const data = { user_id: users[key - tenantIds.length] ?? '', reason: 'logout_all' };
  return database.$transaction((tx) => enqueue(tx, { type: 'identity.token.revoked', data }));
};

/**
 * The events in a relay's notes. A note that SIGKILL cut short is left out: its event was not marked
 * either, so it is published and noted again.
 */
const completeNotes = (notes: string): string[] =>
  notes.split('\n').filter((note) => {
    try {
      JSON.parse(note);
      return true;
    } catch {
      return false;
    }
  });

/** Groups events by topic and key, which is all that Kafka orders. */
export const sequencesOf = (events: readonly string[]): Sequences => {
  const sequences: Sequences = {};
  for (const event of events) {
    const { id, type, subject } = JSON.parse(event);
    const name = `${type} ${subject}`;
    sequences[name] = [...(sequences[name] ?? []), id];
  }
  return sequences;
};

/** Without repetitions: the order in which events were seen for the first time. */
export const firstOccurrences = (sequences: Sequences): Sequences =>
  Object.fromEntries(Object.entries(sequences).map(([name, ids]) => [name, [...new Set(ids)]]));

/** The places where the next event was neither the one that follows nor one that was seen before. */
export const gapsIn = (seen: Sequences, stored: Sequences): string[] =>
  Object.entries(seen).flatMap(([name, ids]) => {
    let furthest = -1;
    return ids.flatMap((id, at) => {
      const place = (stored[name] ?? []).indexOf(id);
      const isLeap = place < 0 || place > furthest + 1;
      furthest = Math.max(furthest, place);
      return isLeap ? [`${name}, number ${at}`] : [];
    });
  });

/**
 * Makes changes while the relay's process and the broker are killed (SIGKILL) and started again, and gives
 * what the database holds and what the broker has acknowledged. `look` reads the broker before it ends.
 */
export const runWithKills = async (
  { outbox, changes, kills, seed }: KillPlan,
  look: (broker: Broker) => Promise<void> = async () => undefined,
): Promise<{ stored: string[]; acknowledged: string[] }> => {
  const { database, url } = outbox;
  const random = randomNumbers(seed);
  const users = Array.from(
    { length: 3 },
    (_, i) => `01980a5d-b0c1-7d52-9f0e-${`${i}`.padStart(12, '0')}`,
  );
  const picks = Array.from({ length: changes }, random);
  const strikes = [
    ...Array.from({ length: kills.relay }, () => ({ at: random() * changes, what: 'relay' })),
    ...Array.from({ length: kills.broker }, () => ({ at: random() * changes, what: 'broker' })),
  ].sort((a, b) => a.at - b.at);

  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-siege-'));
  const notes = path.join(directory, 'acknowledged');
  const asyncapi = asyncapiDocument();
  let broker = await startBroker({ asyncapi });
  const environment = { DATABASE_URL: url, BROKER: broker.brokers[0] ?? '', NOTES: notes };
  let relay = spawnRelay(environment);

  const published = (): Promise<number> =>
    database.outboxEvent.count({ where: { publishedAt: { not: null } } });

  const makeChanges = async (): Promise<void> => {
    // Four at once, so that they get into each other's way.
    const lane = async (): Promise<void> => {
      for (let pick = picks.pop(); pick !== undefined; pick = picks.pop()) {
        await makeChange(outbox, users, pick);
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
  };

  const strike = async (): Promise<void> => {
    for (const { at, what } of strikes) {
      await until(async () => (await published()) >= at);
      if (what === 'relay') {
        await killed(relay);
        relay = spawnRelay(environment);
      } else {
        await broker.kill();
        broker = await startBroker({ asyncapi, port: broker.port });
      }
    }
  };

  try {
    await Promise.all([makeChanges(), strike()]);
    await until(() => outbox.allSent());
    await look(broker);
    const rows = await database.outboxEvent.findMany({ orderBy: { id: 'asc' } });
    const acknowledged = completeNotes(await readFile(notes, 'utf8'));
    return { stored: rows.map(({ payload }) => JSON.stringify(payload)), acknowledged };
  } finally {
    await killed(relay);
    await broker.stop();
    await rm(directory, { recursive: true });
  }
};
