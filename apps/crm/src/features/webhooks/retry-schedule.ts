const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** How long a delivery is attempted. */
export const RETRY_MS = 72 * HOUR;
const FIRST_DELAY_MS = 5 * SECOND;
const FACTOR = 3;
const MAX_DELAY_MS = 6 * HOUR;
/** The longest wait that a `Retry-After` header can ask for. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/**
 * The wait before the next attempt, in milliseconds: exponential, from 5 seconds to 6 hours, with up to 20 percent of
 * jitter, and at least what the receiver asked for. `failures` counts the failed attempts so far.
 */
export const retryDelay = (
  failures: number,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number => {
  const exponential = FIRST_DELAY_MS * FACTOR ** Math.max(0, failures - 1);
  const delay = Math.min(exponential, MAX_DELAY_MS) * (0.8 + 0.4 * random());
  return Math.round(Math.max(delay, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
};

/** The wait in milliseconds that a `Retry-After` header asks for (RFC 9110 section 10.2.3); 0 if it is invalid. */
export const retryAfter = (header: string | string[] | undefined, now = Date.now()): number => {
  const value = [header].flat()[0]?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
};
