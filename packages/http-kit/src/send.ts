import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { StreamedBody } from './route.ts';

/** Milliseconds after which a client that reads nothing is disconnected. */
export const STALLED_MS = 60_000;

/** Whether sending failed because the client disconnected. */
export const isClientDisconnect = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';

/**
 * Sends a body while it is produced, no faster than the client reads it. An error before the first chunk is
 * rendered as usual; after it, the connection is closed. Production stops if the client disconnects or reads
 * nothing for a minute. If the signal aborts, its reason is the error.
 */
export const send = async (
  res: Response,
  { type, chunks }: StreamedBody,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<void> => {
  const source = chunks[Symbol.asyncIterator]();
  const first = await source.next();
  if (signal?.aborted) await source.return?.();
  signal?.throwIfAborted();
  const all = async function* () {
    for (let next = first; !next.done; next = await source.next()) yield next.value;
  };
  res.set({ 'Content-Type': type, ...headers });
  res.setTimeout(STALLED_MS, () => res.destroy());
  try {
    // The client disconnected before the first chunk was ready.
    if (res.destroyed) return;
    if (res.req.method === 'HEAD') res.end();
    else await pipeline(Readable.from(all(), { objectMode: false }), res, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (!isClientDisconnect(error)) throw error;
  } finally {
    await source.return?.();
  }
};
