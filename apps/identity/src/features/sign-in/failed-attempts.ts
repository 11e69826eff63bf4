import { HttpError } from '@tessera/http-kit';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts failed sign-ins by account, whoever tries and whether or not the account exists (decision B4). */
export interface FailedAttempts {
  /**
   * Takes an attempt before its outcome is known, so that a hundred at once do not all pass. 429 when
   * the account has none left.
   */
  take(account: string): Promise<void>;
  /** The attempt was none: it succeeded, or could not be judged. */
  giveBack(account: string): Promise<void>;
}

const locked = (milliseconds: number): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many failed sign-ins. Try again later.', {
    headers: { 'Retry-After': `${Math.ceil(milliseconds / 1000)}` },
  });

/** In memory: each replica counts by itself. */
export const failedAttempts = (
  most: number,
  { windowSeconds = 60 }: { readonly windowSeconds?: number } = {},
): FailedAttempts => {
  const limiter = new RateLimiterMemory({ points: most, duration: windowSeconds });
  return {
    async take(account) {
      try {
        await limiter.consume(account);
      } catch (refusal) {
        throw refusal instanceof RateLimiterRes ? locked(refusal.msBeforeNext) : refusal;
      }
    },
    async giveBack(account) {
      await limiter.reward(account);
    },
  };
};
