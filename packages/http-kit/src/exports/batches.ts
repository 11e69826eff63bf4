/**
 * Reads all rows of a list in batches of `size`, so that an export needs constant memory. `read` returns up to
 * `limit` rows after `last` in the order of the list (from the start if `last` is undefined); a batch with
 * fewer rows is the last one. No connection is held between batches, so a slow client does not block one.
 */
export async function* readInBatches<Row>(
  size: number,
  read: (last: Row | undefined, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let last: Row | undefined; ; ) {
    const rows = await read(last, size);
    if (rows.length > 0) yield rows;
    if (rows.length < size) return;
    last = rows.at(-1);
  }
}
