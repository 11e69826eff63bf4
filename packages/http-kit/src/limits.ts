import type { RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit, type Store } from 'express-rate-limit';
import { HttpError } from './http-error.ts';

/** Requests a window; 0 switches a stage off. */
export interface LimitClass {
  /** Length of the window in seconds. */
  readonly window: number;
  /** For one client address, counted before the caller is known. */
  readonly address: number;
  /** For one principal, counted after. */
  readonly principal: number;
}

export interface Limits {
  address(limitClass: string): RequestHandler;
  principal(limitClass: string): RequestHandler;
}

export interface LimitsOptions<Caller> {
  readonly classes: Readonly<Record<'default' | (string & {}), LimitClass>>;
  /** What identifies a caller: a user, an API key or a client. */
  principalKey(caller: Caller): string;
  /** Where counters live, one store per prefix; in memory unless given. */
  readonly store?: (prefix: string) => Store;
}

const tooMany = (): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many requests. Try again later.');

/**
 * Limits in two stages: by client address before anyone is known, by principal after. Answers carry
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), `X-RateLimit-*`, and
 * `Retry-After` with a 429.
 */
export const createLimits = <Caller>(options: LimitsOptions<Caller>): Limits => {
  const stage = (
    name: string,
    key: (locals: { caller: Caller }, ip: string) => string,
    count: (limits: LimitClass) => number,
  ): ((limitClass: string) => RequestHandler) => {
    const limiterOf = ([limitClass, limits]: [string, LimitClass]): [string, RequestHandler] => {
      const identifier = `${limitClass}-${name}`;
      const max = count(limits);
      if (max === 0) return [limitClass, (_req, _res, next) => next()];
      const limiter = rateLimit({
        windowMs: limits.window * 1000,
        limit: max,
        identifier,
        standardHeaders: 'draft-8',
        legacyHeaders: true,
        keyGenerator: (req, res) =>
          key(res.locals as { caller: Caller }, ipKeyGenerator(req.ip ?? 'unknown')),
        handler: (_req, _res, next) => next(tooMany()),
        // Addresses are read through the configured number of trusted proxies; an untrusted header is ignored.
        validate: { xForwardedForHeader: false, forwardedHeader: false },
        ...(options.store && { store: options.store(`${identifier}:`) }),
      });
      return [limitClass, limiter];
    };
    const limiters = new Map(Object.entries(options.classes).map(limiterOf));
    return (limitClass) => {
      const limiter = limiters.get(limitClass);
      if (!limiter) throw new Error(`There is no class of limits called "${limitClass}".`);
      return limiter;
    };
  };
  return {
    address: stage(
      'address',
      (_locals, ip) => ip,
      (limits) => limits.address,
    ),
    principal: stage(
      'principal',
      ({ caller }) => options.principalKey(caller),
      (limits) => limits.principal,
    ),
  };
};
