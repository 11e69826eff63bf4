/** What `attemptEach` needs. */
export interface AttemptEachOptions<T> {
  work(item: T): Promise<unknown>;
  /** The message of the error, by how many items failed. */
  failure(count: number): string;
  /** Ends the attempts before the next item. */
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Works on items one after the other. One that fails does not keep the others: throws an `AggregateError` after the last
 * one. Returns early if the process stops.
 */
export const attemptEach = async <T>(
  items: Iterable<T>,
  { work, failure, stopping }: AttemptEachOptions<T>,
): Promise<void> => {
  const errors: unknown[] = [];
  for (const item of items) {
    if (stopping?.aborted) return;
    await work(item).catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, failure(errors.length));
};
