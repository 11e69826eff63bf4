import type { Load } from './load/plan.ts';
import type { Options } from './options.ts';
import type { Program } from './program.ts';
import type { System } from './system.ts';

/** The environment of a scenario. */
export interface Bench {
  readonly options: Options;
  readonly system: System;
  readonly load: Program;
}

/** A row of the table. */
export interface Result {
  readonly what: string;
  readonly load?: Load;
  readonly floor?: Load;
  /** Compared with the floor, or with what `remark` describes. */
  readonly ratio?: number;
  /** The floor behind authentication, permissions, rate limits, log and metrics, which the floor itself does without. */
  readonly service?: Load;
  /** Compared with that. */
  readonly serviceRatio?: number;
  /** The same request to a tenant with few rows. */
  readonly reference?: Load;
  /** How many times slower the request is than with few rows. */
  readonly slowdown?: number;
  readonly remark?: string;
  readonly target?: { readonly text: string; readonly isMet: boolean };
}

export interface Scenario<B extends Bench = Bench> {
  readonly name: string;
  /** The paths of the lists below `/api/crm` of which it measures a page. */
  readonly lists?: readonly string[];
  run(bench: B): Promise<readonly Result[]>;
}

/** Thrown if a scenario gets an unexpected response. */
export class UnexpectedResponses extends Error {}

/** Throws unless there were responses and each has one of these statuses, by default 2xx. */
export const requireResponses = (
  what: string,
  { statuses, errors }: Load,
  isExpected = (status: number): boolean => status >= 200 && status < 300,
): void => {
  const found = Object.entries(statuses);
  const wrong = found.filter(([status]) => !isExpected(Number(status)));
  const problems = [
    ...wrong.map(([status, count]) => `${count} times ${status}`),
    ...(errors > 0 ? [`${errors} broken connections or late answers`] : []),
    ...(found.length === 0 ? ['no answer'] : []),
  ];
  if (problems.length > 0) throw new UnexpectedResponses(`${what}: ${problems.join(', ')}`);
};
