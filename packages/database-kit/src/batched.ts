interface Waiting<K, V> {
  readonly key: K;
  resolve(value: V): void;
  reject(error: unknown): void;
}

/**
 * Makes one call of those that come in the same turn of the event loop, at most `max` of them. Where
 * a process is asked a thousand times a second, sending a statement to the database costs as much as
 * all the rest of an answer; together they cost it once.
 */
export const batched = <K, V>(
  callTogether: (keys: readonly K[]) => Promise<readonly V[]>,
  max = 100,
): ((key: K) => Promise<V>) => {
  const waiting: Waiting<K, V>[] = [];

  const flush = async (): Promise<void> => {
    const batch = waiting.splice(0, max);
    if (waiting.length > 0) setImmediate(flush);
    try {
      const values = await callTogether(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as V);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ key, resolve, reject }) === 1) setImmediate(flush);
    });
};
