import type { Load } from './load/plan.ts';
import type { Options } from './options.ts';
import type { Program } from './program.ts';
import type { System } from './system.ts';

/** What a scenario works with. */
export interface Bench {
  readonly options: Options;
  readonly system: System;
  readonly load: Program;
}

/** One line of the table. */
export interface Result {
  readonly what: string;
  readonly load?: Load;
  readonly floor?: Load;
  /** Against the floor, or against what `remark` says. */
  readonly ratio?: number;
  readonly remark?: string;
  readonly target?: { readonly text: string; readonly isMet: boolean };
}

export interface Scenario {
  readonly name: string;
  run(bench: Bench): Promise<readonly Result[]>;
}

/** A scenario in which something else came than what every request must get. */
export class UnexpectedAnswers extends Error {}

/** Throws unless there were answers, each of one of these statuses; 2xx unless others are named. */
export const demandAnswers = (
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
  if (problems.length > 0) throw new UnexpectedAnswers(`${what}: ${problems.join(', ')}`);
};
