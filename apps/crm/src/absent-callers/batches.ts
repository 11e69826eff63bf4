/** Reads everything in batches of at most `most`, each after the last one of the batch before. */
export async function* inBatches<Row>(
  most: number,
  readAfter: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let last: Row | undefined; ; ) {
    const batch = await readAfter(last);
    if (batch.length > 0) yield batch;
    if (batch.length < most) return;
    last = batch.at(-1);
  }
}
