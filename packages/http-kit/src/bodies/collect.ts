import type { Readable } from 'node:stream';

/** What a stream of bytes may take while it is read into memory. */
export interface CollectOptions {
  /** The most bytes. */
  readonly limit: number;
  /** Called before memory for more bytes is taken; may throw. */
  readonly grow: (bytes: number) => void;
  /** Ends the reading with its reason. */
  readonly signal?: AbortSignal;
  /** Creates the error for more bytes than `limit`. */
  readonly tooLarge: () => Error;
  /** Creates the error for a stream that fails or closes before its end. */
  readonly incomplete: (cause?: unknown) => Error;
}

const NOTHING = Buffer.alloc(0);

/**
 * Reads a stream into one buffer. Bytes are copied together as they arrive, because a list of chunks of one byte each takes a
 * hundred times the memory of the bytes. After an error, the rest is discarded.
 */
export const collect = (
  source: Readable,
  { limit, grow, signal, tooLarge, incomplete }: CollectOptions,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let bytes: Buffer = NOTHING;
    let length = 0;
    const stop = (): void => {
      source.off('data', add).off('end', finish).off('close', fail).off('error', fail);
      signal?.removeEventListener('abort', abort);
    };
    const refuse = (error: unknown): void => {
      stop();
      bytes = NOTHING;
      source.resume();
      reject(error);
    };
    const fail = (cause?: unknown): void => refuse(incomplete(cause));
    const abort = (): void => refuse(signal?.reason);
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
        refuse(error);
      }
    };
    signal?.addEventListener('abort', abort, { once: true });
    source.on('data', add).once('end', finish).once('close', fail).once('error', fail);
  });
