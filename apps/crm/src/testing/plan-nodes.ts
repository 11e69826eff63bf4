/** A plan on a server with rows, in the plan of a statement on Citus. */
interface Task<N> {
  readonly 'Remote Plan': readonly (readonly { readonly Plan: N }[])[];
}

/** What is below a node of a plan. */
export interface Nested<N> {
  readonly Plans?: readonly N[];
  readonly 'Distributed Query'?: { readonly Job: { readonly Tasks: readonly Task<N>[] } };
}

const below = <N extends Nested<N>>(node: N): readonly N[] => [
  ...(node.Plans ?? []),
  ...(node['Distributed Query']?.Job.Tasks ?? []).flatMap((task) =>
    task['Remote Plan'].flat().map(({ Plan: plan }) => plan),
  ),
];

/** A node and all below it, also those on the servers with the rows. */
export const nodesOf = <N extends Nested<N>>(node: N): N[] => [
  node,
  ...below(node).flatMap((one) => nodesOf(one)),
];
