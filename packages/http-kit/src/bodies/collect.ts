import type { Readable } from 'node:stream';

/** What a stream of bytes may take while it is read into memory. */
export interface CollectOptions {
  /** The most bytes. */
  readonly limit: number;
  /** Called before memory for more bytes is taken; may throw. */
  readonly grow: (bytes: number) => void;
  /** Creates the error for more bytes than `limit`. */
  readonly tooLarge: () => Error;
  /** Creates the error for a stream that fails or closes before its end. */
  readonly incomplete: (cause?: unknown) => Error;
}

/**
 * Reads a stream into one buffer. Bytes are copied together as they arrive, because a list of chunks of one byte each takes a
 * hundred times the memory of the bytes. After an error, the rest is discarded.
 */
export const collect = (
  source: Readable,
  { limit, grow, tooLarge, incomplete }: CollectOptions,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let length = 0;
    const stop = (): void => {
      source.off('data', add).off('end', finish).off('close', fail).off('error', fail);
    };
    const fail = (cause?: unknown): void => {
      stop();
      source.resume();
      reject(incomplete(cause));
    };
    const finish = (): void => {
      stop();
      resolve(bytes.subarray(0, length));
    };
    const reserve = (needed: number): void => {
      if (needed <= bytes.length) return;
      const capacity = Math.min(limit, Math.max(needed, 2 * bytes.length));
      grow(capacity - bytes.length);
      const larger = Buffer.allocUnsafeSlow(capacity);
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    };
    const add = (chunk: Buffer): void => {
      try {
        if (length + chunk.length > limit) throw tooLarge();
        reserve(length + chunk.length);
        chunk.copy(bytes, length);
        length += chunk.length;
      } catch (error) {
        stop();
        source.resume();
        reject(error);
      }
    };
    source.on('data', add).once('end', finish).once('close', fail).once('error', fail);
  });
