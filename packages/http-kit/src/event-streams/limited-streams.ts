import type { Request, Response } from 'express';
import pLimit from 'p-limit';
import type { Gate } from '../gate.ts';
import { HttpError } from '../http-error.ts';
import { InFlight } from '../in-flight.ts';
import type { Limits } from '../limits.ts';
import type { RouteEntry } from '../route.ts';
import type { EventSource } from './event-stream.ts';
import { sendEvents } from './send-events.ts';

export interface StreamOptions<Caller> {
  readonly gate: Gate<Caller>;
  readonly limits: Limits;
  readonly streamsPerPrincipal?: number;
  readonly streamLifetimeMs?: number;
}

interface OpenStream {
  readonly req: Request;
  readonly route: RouteEntry;
  readonly source: EventSource;
}

const STREAMS_PER_PRINCIPAL = 20;
const STREAM_LIFETIME_MS = 15 * 60_000;
/** How many open streams are authorized again at the same time, so that one event does not flood the gate. */
const CONCURRENT_CHECKS = 50;

/** 429: the caller has as many open streams as the configuration allows. */
export const tooManyStreams = (): HttpError =>
  new HttpError(429, 'too_many_streams', 'You have too many open event streams. Close one first.', {
    headers: { 'Retry-After': '10' },
  });

const unexpected = (cause: unknown): HttpError =>
  new HttpError(500, 'internal_error', 'An internal error occurred.', { cause });

/**
 * Returns how a route sends its event streams: limited in number per principal, and only as long as the gate
 * would still accept the request.
 */
export const limitedStreams = <Caller>({
  gate,
  limits,
  streamsPerPrincipal = STREAMS_PER_PRINCIPAL,
  streamLifetimeMs = STREAM_LIFETIME_MS,
}: StreamOptions<Caller>) => {
  const open = new InFlight(streamsPerPrincipal);
  const limitChecks = pLimit(CONCURRENT_CHECKS);

  const checkOf = (
    { req, route, source }: OpenStream,
    refuse: (error: HttpError) => void,
  ): (() => void) => {
    let latest = 0;
    const check = async (): Promise<void> => {
      latest += 1;
      const own = latest;
      try {
        const caller = await gate.authenticate(req, route);
        await gate.authorize(caller, route, req);
        // Two checks may run beside each other, and end in another order.
        if (own === latest) source.rechecked?.(caller as never);
      } catch (error) {
        refuse(error instanceof HttpError ? error : unexpected(error));
      }
    };
    let isWaiting = false;
    return (): void => {
      // A check that has not begun yet sees the latest change as well.
      if (isWaiting) return;
      isWaiting = true;
      void limitChecks(() => {
        isWaiting = false;
        return check();
      });
    };
  };

  return (route: RouteEntry) =>
    async (
      req: Request,
      res: Response,
      source: EventSource,
      headers: Readonly<Record<string, string>>,
    ): Promise<void> => {
      const key = limits.key(req, res);
      if (!open.begin(key)) throw tooManyStreams();
      try {
        await sendEvents(req, res, source, {
          headers,
          lifetimeMs: streamLifetimeMs,
          watch(refuse) {
            if (!gate.watch || route.permission === 'public') return () => undefined;
            const check = checkOf({ req, route, source }, refuse);
            const unwatch = gate.watch(res.locals.caller, check);
            // The caller may have lost access since the request was authorized.
            check();
            return unwatch;
          },
        });
      } finally {
        open.end(key);
      }
    };
};
