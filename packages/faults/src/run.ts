import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Journal } from './load/journal.ts';
import { startLoad } from './load/load.ts';
import { callers, type OperationContext } from './load/operations.ts';
import type { Outcome } from './load/outcome.ts';
import { longestRecovery } from './recovery.ts';
import type { Scenario } from './scenario.ts';
import type { System } from './system.ts';
import { missingEvents, repeatUnanswered, unpublished, verifyWrites } from './verification.ts';

export interface Result {
  readonly title: string;
  readonly seconds: number;
  readonly requests: number;
  readonly refused: number;
  readonly lost: number;
  readonly wrong: readonly string[];
  readonly eventsLost: number;
  /** The longest one, in milliseconds; undefined if the system did not recover. */
  readonly recoveryMs: number | undefined;
  readonly remarks: readonly string[];
}

const BEFORE_MS = 2000;
const RECOVERY_LIMIT_MS = 60_000;
const PAUSE_MS = 100;

const measure = async (system: System, scenario: Scenario, seconds: number): Promise<Result> => {
  const run = randomBytes(4).toString('hex');
  const journal = new Journal();
  const { refusals } = scenario;
  await scenario.setup?.(system);
  const target = Object.assign({}, system.target, scenario.entry?.());
  const context: OperationContext = { target, journal, run, refusals };
  await system.ready();
  const withDocuments = scenario.needsFileStore ?? false;
  const load = startLoad(callers(target, { withDocuments }), context);
  const marks: number[] = [];
  const remarks: string[] = [];
  const faults: string[] = [];
  const fault = {
    system,
    load,
    seconds,
    eventsArrived: async () => void (await missingEvents(system, journal)),
    markHealed: () => void marks.push(performance.now()),
    fault: (text: string) => void faults.push(text),
    remark: (text: string) => void remarks.push(text),
  };
  try {
    await delay(BEFORE_MS);
    const early = load.outcomes.find(({ kind }) => kind !== 'ok');
    if (early) throw new Error(`It does not work before the fault: ${early.detail}`);
    try {
      await scenario.inject(fault);
      if (!scenario.isOver) await delay(seconds * 1000);
    } finally {
      await scenario.heal(fault);
    }
    fault.markHealed();
    const limit = performance.now() + RECOVERY_LIMIT_MS;
    const recovered = () => longestRecovery(marks, load.outcomes) !== undefined;
    while (!recovered() && performance.now() < limit) await delay(PAUSE_MS);
  } finally {
    await load.stop();
  }
  await system.ready();
  const outcomes = [...load.outcomes];
  const of = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind);
  const unwanted = scenario.answersAll ? [...of('wrong'), ...of('lost')] : of('wrong');
  const wrong = [
    ...faults,
    ...unwanted.map(({ operation, detail }) => `${operation}: ${detail}`),
    ...(await repeatUnanswered(context)),
    ...(await verifyWrites(system, journal, run)),
  ];
  const missing = await missingEvents(system, journal);
  return {
    title: scenario.title,
    seconds,
    requests: outcomes.length,
    refused: of('refused').length,
    lost: of('lost').length,
    wrong,
    eventsLost: missing.length + (await unpublished(system)),
    recoveryMs: longestRecovery(marks, outcomes),
    remarks,
  };
};

/** Runs one scenario under load, and verifies everything that was answered. */
export const runScenario = async (
  system: System,
  scenario: Scenario,
  seconds: number,
): Promise<Result> => {
  try {
    return await measure(system, scenario, seconds);
  } finally {
    await scenario.teardown?.();
  }
};
