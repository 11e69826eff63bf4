const MINUTE_MS = 60_000;

/** A year; the longest that an entry may be. */
export const MAX_MINUTES = 527_040;

/** From start to end, to the nearest minute, as the generated column `minutes`; null without an end. */
export const minutesBetween = (start: Date, end: Date | null): number | null =>
  end && Math.round((end.getTime() - start.getTime()) / MINUTE_MS);

export const minutesAfter = (start: Date, minutes: number): Date =>
  new Date(start.getTime() + minutes * MINUTE_MS);

/** Whether the times are more than the longest entry apart, in either order. */
export const isTooLong = (start: Date, end: Date | null): boolean =>
  end !== null && Math.abs(end.getTime() - start.getTime()) > MAX_MINUTES * MINUTE_MS;
