import { Readable } from 'node:stream';
import { contentTypeOf, SAMPLE_BYTES } from './content-type.ts';

/**
 * The media type of a file, detected from its first bytes, and its whole content: the given stream has been read in
 * part. `declared` is the type that the client declared, which counts for some kinds of text.
 */
export const detectType = async (
  stream: Readable,
  declared: string,
): Promise<{ readonly type: string; readonly content: Readable }> => {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let length = 0;
  while (length < SAMPLE_BYTES) {
    const { done, value } = await chunks.next();
    if (done) break;
    read.push(value);
    length += value.length;
  }
  const sample = Buffer.concat(read, length).subarray(0, SAMPLE_BYTES);
  const all = async function* () {
    try {
      yield* read.splice(0);
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) return;
        yield value;
      }
    } finally {
      stream.destroy();
    }
  };
  return {
    type: await contentTypeOf(sample, declared),
    content: Readable.from(all(), { objectMode: false }),
  };
};
