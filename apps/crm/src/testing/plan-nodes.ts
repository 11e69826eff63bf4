/** A node of a plan and all nodes below it. */
export const nodesOf = <N extends { readonly Plans?: readonly N[] }>(plan: N): N[] => [
  plan,
  ...(plan.Plans ?? []).flatMap((below) => nodesOf(below)),
];
