import type { Request, RequestHandler, Response } from 'express';
import {
  type AugmentedRequest,
  type RateLimitInfo,
  rateLimit,
  type Store,
} from 'express-rate-limit';
import { clientAddress, IPV6_HOST_BITS, networkOf } from './client-address.ts';
import { memoryCounters } from './counters.ts';
import { HttpError } from './http-error.ts';

/** Requests a window; 0 switches a stage off. */
export interface LimitClass {
  /** Length of the window in seconds. */
  readonly window: number;
  /** For one client address, counted before the caller is known. */
  readonly address: number;
  /** For one principal, counted after. */
  readonly principal: number;
  /** For a key of the class's own, such as an address and the prefix of a token; counted before the caller is known. */
  readonly keyed?: { readonly limit: number; key(req: Request, address: string): string };
}

export interface Limits {
  /** What a request counts for: its principal where the caller is known, its address otherwise. */
  key(req: Request, res: Response): string;
  address(limitClass: string): RequestHandler;
  /** By the key of the class; undefined where it has none. */
  keyed(limitClass: string): RequestHandler | undefined;
  principal(limitClass: string): RequestHandler;
}

export interface LimitsOptions<Caller> {
  readonly classes: Readonly<Record<'default' | (string & {}), LimitClass>>;
  /** What identifies a caller: a user, an API key or a client. */
  principalKey(caller: Caller): string;
  /** Where counters live, one store per prefix; in memory unless given. */
  readonly store?: (prefix: string) => Store;
}

/** Whoever has an IPv6 address has 2^64 of them: they count as one. */
const addressKey = (req: Request): string => {
  const address = clientAddress(req);
  if (address === null) return 'unknown';
  return address.includes(':') ? networkOf(address, IPV6_HOST_BITS) : address;
};

type Key<Caller> = (req: Request, locals: { readonly caller: Caller }) => string;

interface Stage {
  /** Class and stage: `default-address`. */
  readonly name: string;
  /** Seconds. */
  readonly window: number;
}

const secondsLeft = ({ window }: Stage, { resetTime }: RateLimitInfo): number =>
  resetTime ? Math.max(1, Math.ceil((Number(resetTime) - Date.now()) / 1000)) : window;

/** The library could write these headers, at the price of hashing the key: half of what a stage costs. */
const tell = (res: Response, stage: Stage, info: RateLimitInfo): void => {
  res.append('RateLimit-Policy', `"${stage.name}"; q=${info.limit}; w=${stage.window}`);
  res.append('RateLimit', `"${stage.name}"; r=${info.remaining}; t=${secondsLeft(stage, info)}`);
  res.setHeader('X-RateLimit-Limit', info.limit);
  res.setHeader('X-RateLimit-Remaining', info.remaining);
};

/** 429 that says in how many seconds to come back. */
export const tooMany = (retryAfter: number): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many requests. Try again later.', {
    headers: { 'Retry-After': String(retryAfter) },
  });

/**
 * Limits in two stages: by client address before anyone is known, by principal after. Answers carry
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) of both, `X-RateLimit-*` of
 * the last one that was asked, and `Retry-After` with a 429.
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
      handler: (req, _res, next) => next(tooMany(secondsLeft(stage, infoOf(req)))),
      // Addresses are read through the configured number of trusted proxies; an untrusted header is ignored.
      validate: { xForwardedForHeader: false, forwardedHeader: false },
      store: store(`${stage.name}:`),
    });
    return (req, res, next) =>
      count(req, res, (error?: unknown) => {
        const isCounted = error === undefined || error instanceof HttpError;
        if (isCounted) tell(res, stage, infoOf(req));
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
      if (!limiter) throw new Error(`There is no class of limits called "${limitClass}".`);
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
