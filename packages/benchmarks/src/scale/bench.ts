import { openPool } from '@tessera/seeding';
import type { Bench, Scenario } from '../scenario.ts';
import type { SeededOwner, SeededTenants } from './data.ts';
import type { Database } from './database.ts';
import { databaseCpu } from './database-cpu.ts';

/** A tenant with a token of its owner. */
export interface ScaleTenant extends SeededOwner {
  readonly token: string;
}

/** The environment of a scenario with `--scale`. */
export interface ScaleBench extends Bench {
  readonly large: ScaleTenant;
  /** A tenant with 10,000 contacts (fewer in a smoke run). */
  readonly reference: ScaleTenant;
  /** One of 1,000 small tenants. */
  readonly small: ScaleTenant;
  /** CRM's database, with all tenants, to look values up and to add what the seed lacks. */
  readonly database: Database;
  /** CPU time used by PostgreSQL so far, in seconds. */
  databaseCpu(): Promise<number>;
}

export type ScaleScenario = Scenario<ScaleBench>;

/** Adds to the environment what scenarios with `--scale` need; `end` closes it. */
export const openScaleBench = async (
  bench: Bench,
  tenants: SeededTenants,
): Promise<{ readonly scaleBench: ScaleBench; end(): Promise<void> }> => {
  const database = openPool(bench.system.stack.postgres.url('crm'));
  const signIn = async (owner: SeededOwner): Promise<ScaleTenant> => ({
    ...owner,
    token: await bench.system.signInAs(owner),
  });
  const scaleBench: ScaleBench = {
    ...bench,
    large: await signIn(tenants.large),
    reference: await signIn(tenants.reference),
    small: await signIn(tenants.small),
    database,
    databaseCpu: await databaseCpu(database),
  };
  const end = async (): Promise<void> => {
    // Otherwise the server would be killed while it writes all changes at its end, and recover them at the next start.
    if (bench.options.keep !== undefined) await database.query('CHECKPOINT');
    await database.end();
  };
  return { scaleBench, end };
};
