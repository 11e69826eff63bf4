import type { Scenario } from '../scenario.ts';
import { brokerScenarios } from './broker.ts';
import { clientScenarios } from './clients.ts';
import { clocks } from './clocks.ts';
import { databaseScenarios } from './database.ts';
import { kills } from './kills.ts';
import { linkScenarios } from './links.ts';
import { noisyTenant } from './noisy-tenant.ts';
import { rollingRestart } from './rolling-restart.ts';

/** The answers of a fault of which none is expected: each counts as wrong. */
export const canary: Scenario = {
  name: 'canary',
  title: 'PostgreSQL refuses connections, and no refusal is expected',
  seconds: 2,
  refusals: [],
  inject: ({ system }) => system.links.database.disturb({ kind: 'gone' }),
  heal: ({ system }) => system.links.database.restore(),
};

export const scenarios: readonly Scenario[] = [
  ...databaseScenarios,
  ...brokerScenarios,
  ...linkScenarios,
  clocks,
  ...clientScenarios,
  noisyTenant,
  rollingRestart,
  kills,
];
