/** SQL and its values, as `pg` takes them. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whether one plan for all values would be worse, as in searches; otherwise PostgreSQL may keep the plan. */
  readonly isPlannedEachTime?: boolean;
}
