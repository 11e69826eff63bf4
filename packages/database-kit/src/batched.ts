import DataLoader from 'dataloader';

/**
 * Combines the calls made in one turn of the event loop into one call with up to `max` keys. Under high load,
 * sending a statement to the database costs as much as the rest of a request; combined calls pay that once.
 * Results are not cached. `callTogether` returns a value for each key, in order.
 */
export const batched = <K, V>(
  callTogether: (keys: readonly K[]) => Promise<readonly V[]>,
  max = 100,
): ((key: K) => Promise<V>) => {
  const loader = new DataLoader<K, V>(callTogether, {
    cache: false,
    maxBatchSize: max,
    // Later than a microtask, so that requests that arrived together are combined.
    batchScheduleFn: (dispatch) => void setImmediate(dispatch),
  });
  return (key) => loader.load(key);
};
