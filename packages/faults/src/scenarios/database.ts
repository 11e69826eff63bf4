import type { Scenario } from '../scenario.ts';

/** A request that was sent again while the first one was still waiting for the database gets 409. */
const refusals = [
  'database_unavailable',
  'identity_unavailable',
  'idempotency_key_in_use',
  // Requests wait behind those that the database does not answer.
  'overloaded',
];

let thaw: (() => void) | undefined;

export const databaseScenarios: readonly Scenario[] = [
  {
    name: 'database-restart',
    title: 'PostgreSQL is stopped, and started again',
    seconds: 5,
    refusals,
    inject: ({ system }) => system.database.stop(),
    heal: ({ system }) => system.database.start(),
  },
  {
    name: 'database-frozen',
    title: 'PostgreSQL does not answer (SIGSTOP)',
    seconds: 20,
    refusals,
    async inject({ system }) {
      thaw = await system.database.freeze();
    },
    async heal() {
      thaw?.();
    },
  },
  {
    name: 'database-cut',
    title: 'each connection to PostgreSQL is cut in the middle of an answer',
    seconds: 20,
    refusals,
    inject: ({ system }) => system.links.database.disturb({ kind: 'cut', bytes: 20_000 }),
    heal: ({ system }) => system.links.database.restore(),
  },
];
