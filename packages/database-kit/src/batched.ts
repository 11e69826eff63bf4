import DataLoader from 'dataloader';

/**
 * Combines the calls of one turn of the event loop into one, with at most `max` keys. In a process that handles
 * a thousand requests a second, sending a statement to the database costs as much as the rest of a request;
 * combined calls pay that once. Results are not cached. `callTogether` returns a value for each key, in order.
 */
export const batched = <K, V>(
  callTogether: (keys: readonly K[]) => Promise<readonly V[]>,
  max = 100,
): ((key: K) => Promise<V>) => {
  const loader = new DataLoader<K, V>(callTogether, {
    cache: false,
    maxBatchSize: max,
    // Later than a microtask: requests that arrived together are handled in one turn.
    batchScheduleFn: (dispatch) => void setImmediate(dispatch),
  });
  return (key) => loader.load(key);
};
