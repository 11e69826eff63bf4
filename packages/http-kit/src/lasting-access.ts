import { setMaxListeners } from 'node:events';
import { FairQueue } from '@tessera/fair-shares';
import type { Request, Response } from 'express';
import type { BodyKey } from './bodies/read-bytes.ts';
import type { Gate } from './gate.ts';
import { HttpError, unavailable } from './http-error.ts';
import type { RouteEntry } from './route.ts';

/** The access of a caller whose request takes longer than a moment: an upload, a download, an export, an event stream. */
export interface LastingAccess {
  /** Aborts as soon as the access is lost; the reason is the `HttpError` of the gate. */
  readonly signal: AbortSignal;
  /**
   * Throws the `HttpError` of the gate if the caller has lost access, before a change is committed. Asks the gate unless
   * it has answered within the last second.
   */
  confirm(): Promise<void>;
  /** Asks the gate without waiting for it. */
  checkNow(): void;
  /** Must be called when the request has been answered. */
  end(): void;
}

export interface LastingAccessOptions<Caller> {
  /** Whether the gate is asked regularly, and not only when it reports a change. Default true. */
  readonly isPolled?: boolean;
  /** Called with the caller as the gate now sees them. */
  renewed?(caller: Caller): void;
  /** Throws an `HttpError` if the request may not continue for another reason, such as the record that it reads. */
  alsoConfirm?(): Promise<unknown>;
}

/** Watches the access of one request after it was authorized. */
export type WatchAccess<Caller> = (
  req: Request,
  res: Response,
  route: RouteEntry,
  options?: LastingAccessOptions<Caller>,
) => LastingAccess;

/** When the gate is asked again; tests shorten it. */
export interface AccessCheckTimes {
  /** Milliseconds between two checks; five seconds by default. */
  readonly intervalMs?: number;
  /** How long an answer is current, in milliseconds; one second by default. */
  readonly currentMs?: number;
}

/** How access is watched, and confirmed after a body that took long to arrive. */
export interface AccessChecks<Caller> {
  readonly watch: WatchAccess<Caller>;
  /**
   * Asks the gate again, unless it answered within the last second, and replaces the caller of the request; throws the
   * gate's `HttpError`.
   */
  confirm(req: Request, res: Response, route: RouteEntry): Promise<void>;
}

/** Milliseconds between two checks. A gate that caches must forget a lost right within the time that is left of 15 seconds. */
const INTERVAL_MS = 5000;
/** How many intervals a request continues while the gate cannot answer, such as during a restart of identity. */
const UNANSWERED_INTERVALS = 2;
/** How long an answer of the gate is current, in milliseconds: short requests ask once. */
const CURRENT_MS = 1000;
/**
 * How many requests are authorized again at the same time, so that one event does not flood the gate. One tenant (see `BodyKey`)
 * has at most half, and those that wait take turns: its checks may wait for its share of the database. None is refused a place
 * to wait, because each open request has one at most.
 */
const CHECKS = { concurrency: 50, waiting: Number.MAX_SAFE_INTEGER } as const;

const unexpected = (cause: unknown): HttpError =>
  cause instanceof HttpError
    ? cause
    : new HttpError(500, 'internal_error', 'An internal error occurred.', { cause });

const none = (): void => undefined;

/** 503: the gate has not answered for too long. */
const unconfirmed = (): HttpError =>
  unavailable('overloaded', 'Your access could not be confirmed in time. Try again.', undefined);

/** Notes in a request that it is about to be authorized. */
export const noteAuthorization = (res: Response): void => {
  res.locals.authorizedAt = performance.now();
};

/**
 * Returns how requests that take long keep asking for the rights of their callers (decision B11): when the gate reports a
 * change, every five seconds, and before they commit. `keyOf` says whose share of the checks a request takes. While the gate cannot answer, they continue for at most ten seconds.
 */
export const createAccessChecks = <Caller>(
  gate: Gate<Caller>,
  { intervalMs = INTERVAL_MS, currentMs = CURRENT_MS }: AccessCheckTimes = {},
  keyOf: BodyKey = () => '',
): AccessChecks<Caller> => {
  const checks = new FairQueue(CHECKS);

  const ask = async (req: Request, route: RouteEntry): Promise<Caller> => {
    const caller = await gate.authenticate(req, route);
    await gate.authorize(caller, route, req);
    return caller;
  };

  const watch: WatchAccess<Caller> = (req, res, route, options = {}) => {
    const { isPolled = true, renewed, alsoConfirm } = options;
    const isPublic = route.permission === 'public';
    const lost = new AbortController();
    const { signal } = lost;
    setMaxListeners(0, signal);
    if (isPublic && !alsoConfirm) {
      return { signal, confirm: async () => undefined, checkNow: none, end: none };
    }
    const given = res.locals.caller as Caller;
    const key = keyOf(req, res);
    let confirmedAt: number = res.locals.authorizedAt ?? performance.now();
    let latest = 0;

    const check = async (): Promise<void> => {
      latest += 1;
      const own = latest;
      const askedAt = performance.now();
      try {
        if (!isPublic) {
          const caller = await ask(req, route);
          // Two checks may run beside each other, and end in another order.
          if (own === latest) {
            gate.renew?.(given, caller);
            renewed?.(caller);
          }
        }
        await alsoConfirm?.();
        confirmedAt = Math.max(confirmedAt, askedAt);
      } catch (cause) {
        const error = unexpected(cause);
        const mayRecover = isPolled && error.status >= 500;
        if (!mayRecover) lost.abort(error);
        else if (performance.now() - confirmedAt > UNANSWERED_INTERVALS * intervalMs)
          lost.abort(error);
      }
    };

    let waiting: Promise<void> | undefined;
    /** A check that has not begun yet sees the latest change as well. */
    const checkSoon = (): Promise<void> => {
      waiting ??= checks.run(key, () => {
        waiting = undefined;
        return check();
      });
      return waiting;
    };

    const checkNow = (): void => void checkSoon();

    const poll = (): void => {
      // The check before this one hangs.
      const isOverdue = performance.now() - confirmedAt > (UNANSWERED_INTERVALS + 1) * intervalMs;
      if (isOverdue) lost.abort(unconfirmed());
      else checkNow();
    };
    const timer = isPolled ? setInterval(poll, intervalMs) : undefined;
    const unwatch = isPublic ? undefined : gate.watch?.(given, checkNow);
    const end = (): void => {
      clearInterval(timer);
      unwatch?.();
    };
    signal.addEventListener('abort', end, { once: true });
    return {
      signal,
      async confirm() {
        if (performance.now() - confirmedAt > currentMs) await checkSoon();
        signal.throwIfAborted();
      },
      checkNow,
      end,
    };
  };

  return {
    watch,
    async confirm(req, res, route) {
      const { authorizedAt } = res.locals;
      if (authorizedAt === undefined || performance.now() - authorizedAt < currentMs) return;
      noteAuthorization(res);
      res.locals.caller = await ask(req, route);
    },
  };
};
