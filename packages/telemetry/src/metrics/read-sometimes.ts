/** Reads what is measured; undefined if it cannot be read now. */
export type Read<T> = () => Promise<T | undefined>;

/** How long a reading is used, in milliseconds: several metrics and scrapes share it. */
const FRESH_MS = 5000;

/** Reads at most once in five seconds. A reading that fails is reported and counts as undefined. */
export const readSometimes = <T>(
  read: () => Promise<T>,
  onFailure: (err: unknown) => void,
): Read<T> => {
  let last: { readonly at: number; readonly result: Promise<T | undefined> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > FRESH_MS) {
      const result = read().catch((err: unknown) => {
        onFailure(err);
        return undefined;
      });
      last = { at: performance.now(), result };
    }
    return last.result;
  };
};
