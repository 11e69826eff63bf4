import { setMaxListeners } from 'node:events';
import type { Request, Response } from 'express';
import type { HttpError } from '../http-error.ts';
import { STALLED_MS } from '../send.ts';
import { closedEvent, type EventSource } from './event-stream.ts';
import { serialised } from './serialised-event.ts';

/** Milliseconds after which an idle stream sends a comment, so that proxies keep the connection open. */
const HEARTBEAT_MS = 15_000;

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 2000;

/** Milliseconds that a client has to read the end of its stream. */
const LINGER_MS = 5000;

export interface SendEventsOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds after which the stream ends. */
  readonly lifetimeMs: number;
  /**
   * Starts to watch the caller's access, which ends the stream by `refuse`; returns how to stop watching.
   */
  watch?(refuse: (error: HttpError) => void): () => void;
}

/**
 * Sends events no faster than the client reads them; meanwhile the source waits or drops the client. The stream
 * ends with its source, when the client disconnects or reads nothing for a minute, when the caller loses access,
 * after `lifetimeMs`, and when the server stops.
 */
export const sendEvents = async (
  req: Request,
  res: Response,
  source: EventSource,
  { headers, lifetimeMs, watch }: SendEventsOptions,
): Promise<void> => {
  res.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Content-Type-Options': 'nosniff',
    // Otherwise nginx would buffer events.
    'X-Accel-Buffering': 'no',
    ...headers,
  });
  if (req.method === 'HEAD') return void res.end();
  res.write(`retry: ${RETRY_MS}\n\n`);

  const ended = new AbortController();
  const { signal } = ended;
  setMaxListeners(0, signal);
  const end = (): void => ended.abort();
  res.once('close', end);
  req.stopping?.addEventListener('abort', end, { once: true });
  if (res.destroyed || req.stopping?.aborted) end();
  let refusal: HttpError | undefined;
  const unwatch = watch?.((error) => {
    refusal ??= error;
    end();
  });

  /** The result of a promise, or undefined as soon as the stream has ended. */
  let release = (): void => undefined;
  signal.addEventListener('abort', () => release());
  const orEnd = <T>(promise: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      release = () => resolve(undefined);
      if (signal.aborted) release();
      promise.then(resolve, reject);
    });

  const lifetime = setTimeout(end, lifetimeMs);
  const heartbeat = setInterval(() => res.writableNeedDrain || res.write(':\n\n'), HEARTBEAT_MS);
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      const stalled = setTimeout(() => res.destroy(), STALLED_MS);
      const done = (): void => {
        clearTimeout(stalled);
        res.off('drain', done).off('close', done);
        resolve();
      };
      res.once('drain', done).once('close', done);
    });

  const events = source(signal)[Symbol.asyncIterator]();
  try {
    while (!signal.aborted) {
      const next = await orEnd(events.next());
      if (next === undefined || next.done) break;
      if (signal.aborted) break;
      if (!res.write(serialised(next.value).text)) await orEnd(drained());
    }
  } finally {
    clearTimeout(lifetime);
    clearInterval(heartbeat);
    unwatch?.();
    req.stopping?.removeEventListener('abort', end);
    end();
    // A generator that waits for an event returns only after it; the signal tells it immediately.
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
  if (res.closed) return;
  if (refusal) res.write(serialised(closedEvent(refusal.code, refusal.message)).text);
  // Without a limit, a client that has stopped reading would keep its connection.
  const linger = setTimeout(() => res.destroy(), LINGER_MS);
  res.once('close', () => clearTimeout(linger));
  res.end();
};
