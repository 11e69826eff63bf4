import type { Request, Response } from 'express';
import { HttpError } from '../http-error.ts';
import { InFlight } from '../in-flight.ts';
import type { WatchAccess } from '../lasting-access.ts';
import type { Limits } from '../limits.ts';
import type { RouteEntry } from '../route.ts';
import type { EventSource } from './event-stream.ts';
import { sendEvents } from './send-events.ts';

export interface StreamOptions<Caller> {
  readonly watchAccess: WatchAccess<Caller>;
  readonly limits: Limits;
  readonly streamsPerPrincipal?: number;
  readonly streamLifetimeMs?: number;
}

const STREAMS_PER_PRINCIPAL = 20;
const STREAM_LIFETIME_MS = 15 * 60_000;

/** 429: the caller has as many open streams as the configuration allows. */
export const tooManyStreams = (): HttpError =>
  new HttpError(429, 'too_many_streams', 'You have too many open event streams. Close one first.', {
    headers: { 'Retry-After': '10' },
  });

/**
 * Returns how a route sends its event streams: limited in number per principal, and only as long as the gate
 * would still accept the request.
 */
export const limitedStreams = <Caller>({
  watchAccess,
  limits,
  streamsPerPrincipal = STREAMS_PER_PRINCIPAL,
  streamLifetimeMs = STREAM_LIFETIME_MS,
}: StreamOptions<Caller>) => {
  const open = new InFlight(streamsPerPrincipal);
  return (route: RouteEntry) =>
    async (
      req: Request,
      res: Response,
      source: EventSource,
      headers: Readonly<Record<string, string>>,
    ): Promise<void> => {
      const key = limits.key(req, res);
      if (!open.begin(key)) throw tooManyStreams();
      const access = watchAccess(req, res, route, {
        // Streams stay open for long, and there are many: the gate reports changes.
        isPolled: false,
        renewed: (caller) => source.rechecked?.(caller as never),
      });
      try {
        await sendEvents(req, res, source, {
          headers,
          lifetimeMs: streamLifetimeMs,
          watch(refuse) {
            const { signal } = access;
            signal.addEventListener('abort', () => refuse(signal.reason), { once: true });
            // The caller may have lost access since the request was authorized.
            access.checkNow();
            return access.end;
          },
        });
      } finally {
        access.end();
        open.end(key);
      }
    };
};
