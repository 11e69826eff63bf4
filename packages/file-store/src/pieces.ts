/** Joins parts of any size to pieces of `length` bytes; the last one is shorter, and may be empty. */
export async function* piecesOf(
  parts: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<{ readonly piece: Buffer; readonly isLast: boolean }> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const part of parts) {
    held.push(part);
    size += part.length;
    if (size <= length) continue;
    const all = Buffer.concat(held, size);
    let start = 0;
    // A full piece is kept until more bytes arrive, because it may be the last one.
    for (; size - start > length; start += length) {
      yield { piece: all.subarray(start, start + length), isLast: false };
    }
    held = [all.subarray(start)];
    size -= start;
  }
  yield { piece: Buffer.concat(held, size), isLast: true };
}
