import type { Pool } from 'pg';

/** A node of a plan with what its execution has read; see `auto_explain.log_analyze`. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly Schema?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that ran, and its plan. */
export interface ExecutedPlan {
  readonly text: string;
  readonly plan: PlanNode;
}

const MESSAGE = /^duration: .*? plan:\n(.*)$/s;

/**
 * Notes each statement that runs on a pool, with its plan, including statements in functions and triggers. Has to be
 * created before the first connection; the server must send plans (`sendPlans`).
 */
export class PlanWatch {
  #noted: ExecutedPlan[] | undefined;

  constructor(pool: Pool) {
    pool.on('connect', (client) =>
      client.on('notice', ({ message = '' }) => {
        const [, json] = MESSAGE.exec(message) ?? [];
        if (json === undefined || !this.#noted) return;
        const { 'Query Text': text, Plan: plan } = JSON.parse(json) as {
          'Query Text': string;
          Plan: PlanNode;
        };
        this.#noted.push({ text, plan });
      }),
    );
  }

  /** The statements that run during `work`. */
  async during(work: () => Promise<unknown>): Promise<readonly ExecutedPlan[]> {
    const noted: ExecutedPlan[] = [];
    this.#noted = noted;
    await work();
    this.#noted = undefined;
    return noted;
  }
}
