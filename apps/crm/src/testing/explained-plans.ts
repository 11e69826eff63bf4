/** A plan on a server with rows, in the plan of a statement on Citus. */
interface Task {
  readonly 'Remote Plan': readonly (readonly { readonly Plan: ExplainedNode }[])[];
}

/** A node of a plan as EXPLAIN returns it in JSON. */
export interface ExplainedNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** With ANALYZE only. */
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly Plans?: readonly ExplainedNode[];
  readonly 'Distributed Query'?: { readonly Job: { readonly Tasks: readonly Task[] } };
}

const below = (node: ExplainedNode): readonly ExplainedNode[] => [
  ...(node.Plans ?? []),
  ...(node['Distributed Query']?.Job.Tasks ?? []).flatMap((task) =>
    task['Remote Plan'].flat().map(({ Plan: plan }) => plan),
  ),
];

/** A node and all below it, also those on the servers with the rows. */
export const nodesOf = (node: ExplainedNode): ExplainedNode[] => [
  node,
  ...below(node).flatMap(nodesOf),
];
