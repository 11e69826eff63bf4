import { nodesOf } from './plan-nodes.ts';
import type { ExecutedPlan, PlanNode } from './plan-watch.ts';

/** Tables with fewer rows than this in the tenant say nothing about a plan. */
const MANY = 250;

/** A partition has the name of its table and a number. */
const tableOf = (node: PlanNode): string => (node['Relation Name'] ?? '').replace(/_p\d+$/, '');

const isOfTenant = ({ Schema: schema }: PlanNode): boolean =>
  schema === 'tenant_crm' || schema === 'tenant_rows';

const rowsOf = (node: PlanNode): number => node['Actual Rows'] * node['Actual Loops'];

/** The rows that a scan read and did not return. */
const removedBy = (node: PlanNode): number =>
  ((node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
  node['Actual Loops'];

/** Whether rows come from a table, and not from a few groups or from hits that have been counted first. */
const comesFromTable = (node: PlanNode): boolean => {
  const kind = node['Node Type'];
  if (kind.includes('Aggregate') || kind === 'CTE Scan' || kind === 'Limit') return false;
  if (isOfTenant(node) && kind.endsWith('Scan')) return true;
  return (node.Plans ?? []).some(comesFromTable);
};

/** The index that a scan uses; of a bitmap, one of them. */
const indexOf = (node: PlanNode): string | undefined =>
  nodesOf(node).find((one) => one['Index Name'] !== undefined)?.['Index Name'];

const problemOf = (node: PlanNode): string | undefined => {
  const kind = node['Node Type'];
  if (kind === 'Seq Scan' && isOfTenant(node)) {
    return `scans ${tableOf(node)} from end to end`;
  }
  const removed = removedBy(node);
  if (isOfTenant(node) && removed > MANY && removed > rowsOf(node)) {
    return `reads ${rowsOf(node) + removed} rows of ${tableOf(node)} to find ${rowsOf(node)}, by ${indexOf(node) ?? kind}`;
  }
  const [input] = node.Plans ?? [];
  if (kind === 'Sort' && input && rowsOf(input) > MANY && comesFromTable(input)) {
    const table = nodesOf(input).find(isOfTenant);
    return `sorts ${rowsOf(input)} rows of ${table ? tableOf(table) : 'a table'}`;
  }
  return undefined;
};

/**
 * What is wrong with the plan of a statement: a scan without an index, an index that does not fit the condition, or
 * a sort of many rows that an index would return in order.
 */
export const problemsOf = ({ plan }: ExecutedPlan): string[] =>
  nodesOf(plan).flatMap((node) => problemOf(node) ?? []);
