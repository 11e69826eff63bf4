import type { Request, RequestHandler, Response } from 'express';
import {
  type AugmentedRequest,
  type RateLimitInfo,
  rateLimit,
  type Store,
} from 'express-rate-limit';
import { clientAddress, hostOf } from './client-address.ts';
import { memoryCounters } from './counters.ts';
import { HttpError } from './http-error.ts';

/** Requests per window; 0 disables a stage. */
export interface LimitClass {
  /** Length of the window in seconds. */
  readonly window: number;
  /** Per client address, counted before authentication. */
  readonly address: number;
  /** Per principal, counted after authentication. */
  readonly principal: number;
  /** Per key of this class, such as an address and the prefix of a token; counted before authentication. */
  readonly keyed?: { readonly limit: number; key(req: Request, address: string): string };
}

export interface Limits {
  /** The key that a request is counted by: its principal if it is authenticated, otherwise its address. */
  key(req: Request, res: Response): string;
  address(limitClass: string): RequestHandler;
  /** Limits by the key of the class; undefined if the class has no key of its own. */
  keyed(limitClass: string): RequestHandler | undefined;
  principal(limitClass: string): RequestHandler;
}

export interface LimitsOptions<Caller> {
  readonly classes: Readonly<Record<'default' | (string & {}), LimitClass>>;
  /** The id under which a caller is counted: a user, an API key or a client. */
  principalKey(caller: Caller): string;
  /** The store for a prefix; in memory by default. */
  readonly store?: (prefix: string) => Store;
}

/** The client's address as limits count it: an IPv6 host has 2^64 addresses, which count as one. */
export const addressKey = (req: Request): string => {
  const address = clientAddress(req);
  if (address === null) return 'unknown';
  return hostOf(address);
};

type Key<Caller> = (req: Request, locals: { readonly caller: Caller }) => string;

interface Stage {
  /** Class and stage, for example `default-address`. */
  readonly name: string;
  /** Length of the window in seconds. */
  readonly window: number;
}

const secondsLeft = ({ window }: Stage, { resetTime }: RateLimitInfo): number =>
  resetTime ? Math.max(1, Math.ceil((Number(resetTime) - Date.now()) / 1000)) : window;

/** The library could write these headers, but it hashes the key for them: half of the cost of a stage. */
const setRateLimitHeaders = (res: Response, stage: Stage, info: RateLimitInfo): void => {
  res.append('RateLimit-Policy', `"${stage.name}"; q=${info.limit}; w=${stage.window}`);
  res.append('RateLimit', `"${stage.name}"; r=${info.remaining}; t=${secondsLeft(stage, info)}`);
  res.setHeader('X-RateLimit-Limit', info.limit);
  res.setHeader('X-RateLimit-Remaining', info.remaining);
};

/** 429 with the number of seconds after which to retry. */
export const tooManyRequests = (retryAfter: number): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many requests. Try again later.', {
    headers: { 'Retry-After': String(retryAfter) },
  });

/**
 * Limits requests in two stages: by client address before authentication, and by principal after it. Responses
 * carry `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) of both stages,
 * `X-RateLimit-*` of the last stage that ran, and `Retry-After` with a 429.
 */
export const createLimits = <Caller>(options: LimitsOptions<Caller>): Limits => {
  const { store = memoryCounters.store } = options;
  const limiterOf = (stage: Stage, limit: number, key: Key<Caller>): RequestHandler => {
    if (limit === 0) return (_req, _res, next) => next();
    const infoOf = (req: Request) => (req as AugmentedRequest).rateLimit as RateLimitInfo;
    const count = rateLimit({
      windowMs: stage.window * 1000,
      limit,
      standardHeaders: false,
      legacyHeaders: false,
      keyGenerator: (req, res) => key(req, res.locals as { caller: Caller }),
      handler: (req, _res, next) => next(tooManyRequests(secondsLeft(stage, infoOf(req)))),
      // The address comes from the configured number of trusted proxies; other forwarding headers are ignored.
      validate: { xForwardedForHeader: false, forwardedHeader: false },
      store: store(`${stage.name}:`),
    });
    return (req, res, next) =>
      count(req, res, (error?: unknown) => {
        const isCounted = error === undefined || error instanceof HttpError;
        if (isCounted) setRateLimitHeaders(res, stage, infoOf(req));
        next(error);
      });
  };
  const stage = (
    which: 'address' | 'principal',
    key: Key<Caller>,
  ): ((limitClass: string) => RequestHandler) => {
    const limiters = new Map(
      Object.entries(options.classes).map(([limitClass, { window, [which]: limit }]) => {
        const name = `${limitClass}-${which}`;
        return [limitClass, limiterOf({ name, window }, limit, key)];
      }),
    );
    return (limitClass) => {
      const limiter = limiters.get(limitClass);
      if (!limiter) throw new Error(`There is no limit class called "${limitClass}".`);
      return limiter;
    };
  };
  const keyed = new Map(
    Object.entries(options.classes).flatMap(([limitClass, { window, keyed: own }]) =>
      own
        ? [
            [
              limitClass,
              limiterOf({ name: `${limitClass}-keyed`, window }, own.limit, (req) =>
                own.key(req, addressKey(req)),
              ),
            ] as const,
          ]
        : [],
    ),
  );
  return {
    key: (req, { locals: { caller } }) =>
      caller === undefined ? `address:${addressKey(req)}` : options.principalKey(caller),
    address: stage('address', addressKey),
    keyed: (limitClass) => keyed.get(limitClass),
    principal: stage('principal', (_req, { caller }) => options.principalKey(caller)),
  };
};
