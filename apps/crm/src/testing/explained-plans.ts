import type { Nested } from './plan-nodes.ts';

/** A node of a plan as EXPLAIN returns it in JSON. */
export interface ExplainedNode extends Nested<ExplainedNode> {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  /** With ANALYZE only. */
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  /** With BUFFERS only; includes those of the nodes below. */
  readonly 'Shared Hit Blocks'?: number;
}
