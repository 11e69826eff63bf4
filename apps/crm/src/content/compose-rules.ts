import type { KindTypes } from '../records/kind.ts';
import type { RecordChange, Rules } from '../records/rules.ts';

/** Rules that apply one after the other; the columns that they set are put together. */
export const composeRules = <T extends KindTypes>(...all: readonly Rules<T>[]): Rules<T> => ({
  async create(input, context) {
    const columns = {};
    for (const { create } of all) Object.assign(columns, await create?.(input, context));
    return columns;
  },
  async update(change, context) {
    const columns = {};
    for (const { update } of all) Object.assign(columns, await update?.(change, context));
    return columns;
  },
  async delete(context) {
    for (const rules of all) await rules.delete?.(context);
  },
  async restore(context) {
    const columns = {};
    for (const { restore } of all) Object.assign(columns, await restore?.(context));
    return columns;
  },
});

/** Further work in the transaction of a change. */
export type Follow<T extends KindTypes> = (change: RecordChange<T>) => Promise<void>;

/** What follows a change, one after the other. */
export const composeFollow =
  <T extends KindTypes>(...all: readonly Follow<T>[]): Follow<T> =>
  async (change) => {
    for (const follow of all) await follow(change);
  };
