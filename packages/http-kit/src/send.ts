import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { Sent } from './route.ts';

/** Milliseconds after which a client that takes nothing loses its connection. */
export const STALLED_MS = 60_000;

/** Whether sending failed because the client left. */
export const isAbandoned = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';

/**
 * Sends an answer while it is made, no faster than the client takes it. What fails before the first chunk is
 * an error like any other; later, half an answer is cut off. A client that leaves, or takes nothing for a
 * minute, ends the making.
 */
export const send = async (
  res: Response,
  { type, chunks }: Sent,
  headers: Readonly<Record<string, string>>,
): Promise<void> => {
  const source = chunks[Symbol.asyncIterator]();
  const first = await source.next();
  const all = async function* () {
    for (let next = first; !next.done; next = await source.next()) yield next.value;
  };
  res.set({ 'Content-Type': type, ...headers });
  res.setTimeout(STALLED_MS, () => res.destroy());
  try {
    // It lost its connection before the first chunk was there.
    if (res.destroyed) return;
    if (res.req.method === 'HEAD') res.end();
    else await pipeline(Readable.from(all(), { objectMode: false }), res);
  } catch (error) {
    if (!isAbandoned(error)) throw error;
  } finally {
    await source.return?.();
  }
};
