import { once } from 'node:events';
import { Readable } from 'node:stream';
import { contentTypeOf, SAMPLE_BYTES } from './content-type.ts';

/** Resolves once a stream has more to read or has ended; rejects with its error. */
const readable = async (stream: Readable): Promise<void> => {
  const found = new AbortController();
  const { signal } = found;
  try {
    await Promise.race(
      ['readable', 'end', 'close'].map((event) => once(stream, event, { signal })),
    );
  } finally {
    found.abort();
  }
};

/**
 * The media type of a file, detected from its first bytes, and a stream of its whole content, because the given stream
 * has been read in part. `declared` is the type that the client declared, which decides between some kinds of text.
 */
export const detectType = async (
  stream: Readable,
  declared: string,
): Promise<{ readonly type: string; readonly content: Readable }> => {
  const read: Buffer[] = [];
  let length = 0;
  while (length < SAMPLE_BYTES && !stream.readableEnded && !stream.destroyed) {
    const chunk: Buffer | null = stream.read();
    if (chunk === null) {
      await readable(stream);
      continue;
    }
    read.push(chunk);
    length += chunk.length;
  }
  if (stream.errored) throw stream.errored;
  const beginning = Buffer.concat(read, length);
  const type = await contentTypeOf(beginning.subarray(0, SAMPLE_BYTES), declared);
  // A stream that has ended takes nothing back.
  if (stream.readableEnded) {
    return { type, content: Readable.from(length > 0 ? [beginning] : [], { objectMode: false }) };
  }
  stream.unshift(beginning);
  return { type, content: stream };
};
