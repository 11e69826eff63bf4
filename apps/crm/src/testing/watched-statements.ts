import type { Statement, TenantDb } from '@tessera/database-kit';
import type { TenantSource } from '../records/scope.ts';
import { onCitus } from './distributed-tables.ts';
import type { ExplainedNode } from './explained-plans.ts';
import { onPartitions } from './partitioned-tables.ts';
import { nodesOf } from './plan-nodes.ts';
import { withMethods } from './records.ts';

const watch = (db: TenantDb, seen: Statement[]): TenantDb => {
  const noted = (statement: Statement): Statement => {
    seen.push(statement);
    return statement;
  };
  return withMethods(db, {
    query: (statement, options) => db.query(noted(statement), options),
    read: (statement, options) => db.read(noted(statement), options),
    transaction: (work) => db.transaction((inside) => work(watch(inside, seen))),
    snapshot: (work) => db.snapshot((inside) => work(watch(inside, seen))),
  });
};

/** Notes the statements that run through a source in `statements`. */
export const watchStatements = (source: TenantSource) => {
  const statements: Statement[] = [];
  const watched: TenantSource = {
    forTenant: (tenantId) => watch(source.forTenant(tenantId), statements),
  };
  return { source: watched, statements };
};

/** Settings of a transaction in which no plan scans a table for which an index can be used. */
const byIndex = [
  ...(onCitus ? ["SET LOCAL citus.propagate_set_commands = 'local'"] : []),
  'SET LOCAL enable_seqscan = off',
];

/**
 * The tables that a statement would scan from end to end. Partitions and shards are so small in tests that this
 * is the cheapest plan; of them, those are meant that no index can be used for.
 */
export const scannedTables = (db: TenantDb, { text, values }: Statement): Promise<string[]> =>
  db.transaction(async (inside) => {
    if (onPartitions || onCitus) {
      for (const setting of byIndex) await inside.query({ text: setting, values: [] });
    }
    const explained = { text: `EXPLAIN (FORMAT JSON) ${text}`, values };
    const [row] = await inside.query<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(explained);
    if (!row) throw new Error('EXPLAIN returned no plan.');
    return nodesOf(row['QUERY PLAN'][0].Plan)
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name'] ?? '');
  });
