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

/** The headers tell of this limit, not of the one that the address still has left. */
const locked = (most: number, windowSeconds: number, milliseconds: number): HttpError => {
  const seconds = Math.ceil(milliseconds / 1000);
  return new HttpError(429, 'rate_limited', 'Too many failed sign-ins. Try again later.', {
    headers: {
      'Retry-After': `${seconds}`,
      'RateLimit-Policy': `"login-account"; q=${most}; w=${windowSeconds}`,
      RateLimit: `"login-account"; r=0; t=${seconds}`,
      'X-RateLimit-Limit': `${most}`,
      'X-RateLimit-Remaining': '0',
    },
  });
};

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
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw locked(most, windowSeconds, refusal.msBeforeNext);
      }
    },
    async giveBack(account) {
      await limiter.reward(account);
    },
  };
};
