import type { Pool, PoolClient } from 'pg';
import { nodesOf } from './plan-nodes.ts';

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Subplans Removed'?: number;
  readonly Plans?: readonly Plan[];
}

/** A statement, or one in a function that it called, with the partitions that its plan touches. */
export interface PlannedStatement {
  readonly text: string;
  readonly partitions: readonly string[];
  /**
   * Whether partitions were pruned only during execution, for example because of a function. Citus routes by
   * the parameters alone.
   */
  readonly isPrunedLate: boolean;
}

/** The message that auto_explain sends. */
const PLAN = /^duration: .*? plan:\n(.*)$/s;
const PARTITION = /_p(\d+)$/;

const planned = (message: string): PlannedStatement | undefined => {
  const [, json] = PLAN.exec(message) ?? [];
  if (json === undefined) return undefined;
  const { 'Query Text': text, Plan: plan } = JSON.parse(json) as {
    'Query Text': string;
    Plan: Plan;
  };
  const nodes = nodesOf(plan);
  const partitions = new Set(
    nodes.map((node) => node['Relation Name'] ?? '').filter((name) => PARTITION.test(name)),
  );
  const isPrunedLate = nodes.some((node) => (node['Subplans Removed'] ?? 0) > 0);
  return { text, partitions: [...partitions].sort(), isPrunedLate };
};

interface Connection {
  parse(statement: { readonly name?: string; readonly text: string }): void;
}

/** They let PostgreSQL keep plans. */
const PREAMBLES: ReadonlySet<string> = new Set(['plan_once', 'keep_plans']);
const KEEP_PLANS = "set_config('plan_cache_mode', 'auto', true)";
const PLAN_FOR_VALUES = "set_config('plan_cache_mode', 'force_custom_plan', true)";
/** What triggers need to know; it has nothing to do with plans. */
const SERVICE_SETTINGS = /set_config\('tessera\.[^)]*\)/g;

/**
 * Has statements that are planned once (`QueryOptions.planOnce`) planned for their values, as all others: a plan
 * for all values always prunes partitions late, so it shows nothing about the statement.
 */
const planForValues = (client: PoolClient): void => {
  const { connection } = client as unknown as { readonly connection: Connection };
  const parse = connection.parse.bind(connection);
  connection.parse = (statement) =>
    parse(
      PREAMBLES.has(statement.name ?? '')
        ? {
            name: statement.name ?? '',
            text: `SELECT ${(statement.text.match(SERVICE_SETTINGS) ?? []).join(', ')}`,
          }
        : statement,
    );
};

/** All tables are partitioned in the same way, so a tenant's rows have the same partition number in each. */
const isOnePartition = ({ partitions, isPrunedLate }: PlannedStatement): boolean =>
  !isPrunedLate && new Set(partitions.map((name) => PARTITION.exec(name)?.[1])).size <= 1;

/** Collects the plans of the service's statements on a pool; the database must send them (`sendPlans`). */
export class StatementPlans {
  readonly #statements = new Map<string, PlannedStatement>();

  constructor(pool: Pool) {
    pool.on('connect', (client) => this.#watch(client));
  }

  /** Each statement once, by its text; among several plans, prefers one that touches several partitions. */
  get statements(): readonly PlannedStatement[] {
    return [...this.#statements.values()];
  }

  /** Throws if a statement touched more than one partition. */
  verify(): void {
    const wide = this.statements.filter((statement) => !isOnePartition(statement));
    if (wide.length === 0) return;
    const list = wide.map(({ text, partitions, isPrunedLate }) =>
      [
        text.trim(),
        `  touches ${isPrunedLate ? 'a partition that is known only when it runs' : partitions.join(', ')}`,
      ].join('\n'),
    );
    throw new Error(
      `Each mention of a table must be limited to one tenant by a parameter:\n${list.join('\n')}`,
    );
  }

  #watch(client: PoolClient): void {
    planForValues(client);
    // The service uses named (prepared) statements; statements that tests send through the same pool are
    // unnamed.
    let isOfService = false;
    const query = client.query as (...args: unknown[]) => unknown;
    const watched = (...args: unknown[]): unknown => {
      const [config, ...rest] = args;
      isOfService = typeof config === 'object' && config !== null && 'name' in config;
      if (typeof config !== 'string') return query.apply(client, args);
      return query.apply(client, [config.replace(KEEP_PLANS, PLAN_FOR_VALUES), ...rest]);
    };
    client.query = watched as PoolClient['query'];
    client.on('notice', ({ message }) => {
      const statement = isOfService && message ? planned(message) : undefined;
      if (!statement) return;
      const known = this.#statements.get(statement.text);
      if (!known || isOnePartition(known)) this.#statements.set(statement.text, statement);
    });
  }
}
