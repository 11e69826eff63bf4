import { int, url, withRule } from '@tessera/fields';

const DAY = 86_400;

/** At least one second, and a year at most unless `max` says otherwise. */
export const seconds = (max = 366 * DAY) => int(1, max);

/** Days in seconds. */
export const days = (count: number): number => count * DAY;

/** An http(s) URL without a path, a query or a fragment. */
export const baseUrl = () =>
  withRule(url(255), (value) =>
    /^https?:\/\/[^/?#]+$/.test(value) ? undefined : 'must be an http(s) URL without a path',
  );
