/**
 * All rows of a list, in batches of `size`, for an export of constant memory. `read` gives up to `limit` rows
 * that follow `last` in the order of the list (the first rows where it is undefined); a batch that is
 * shorter than `limit` is the last. Nothing is held between two batches, so a slow client holds no connection.
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
