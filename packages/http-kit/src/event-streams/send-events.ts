import { setMaxListeners } from 'node:events';
import type { Request, Response } from 'express';
import { STALLED_MS } from '../send.ts';
import type { EventSource, ServerSentEvent } from './event-stream.ts';

/** Milliseconds after which an idle stream sends a comment, so that proxies keep the connection open. */
const HEARTBEAT_MS = 15_000;

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 2000;

const LINE_BREAK = /[\r\n\0]/;

const written = new WeakMap<ServerSentEvent, string>();

/** Serialises an event. JSON text contains no line breaks, so the data is one line. */
const textOf = (event: ServerSentEvent): string => {
  const known = written.get(event);
  if (known !== undefined) return known;
  const { id, event: name, data } = event;
  if (LINE_BREAK.test(`${id ?? ''}${name}`))
    throw new Error('An event has a line break in its id.');
  const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  written.set(event, text);
  return text;
};

/**
 * Sends events no faster than the client reads them; meanwhile the source waits or drops the client. The stream
 * ends with its source, when the client disconnects or reads nothing for a minute, after `lifetimeMs`, and when
 * the server stops.
 */
export const sendEvents = async (
  req: Request,
  res: Response,
  source: EventSource,
  headers: Readonly<Record<string, string>>,
  lifetimeMs: number,
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
      if (!res.write(textOf(next.value))) await orEnd(drained());
    }
  } finally {
    clearTimeout(lifetime);
    clearInterval(heartbeat);
    req.stopping?.removeEventListener('abort', end);
    end();
    // A generator that waits for an event returns only after it; the signal tells it immediately.
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
  res.end();
};
