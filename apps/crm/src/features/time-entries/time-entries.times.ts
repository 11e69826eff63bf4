const MINUTE_MS = 60_000;

/** A year; the longest that an entry may be. */
export const MAX_MINUTES = 527_040;

/** To the nearest minute. Sums are rounded once, since the minutes of many short entries would not add up. */
export const toMinutes = (milliseconds: number): number => Math.round(milliseconds / MINUTE_MS);

/** From start to end, to the nearest minute, as the generated column `minutes`; null without an end. */
export const minutesBetween = (start: Date, end: Date | null): number | null =>
  end && toMinutes(end.getTime() - start.getTime());

export const minutesAfter = (start: Date, minutes: number): Date =>
  new Date(start.getTime() + minutes * MINUTE_MS);

/** Whether the times are more than the longest entry apart, in either order. */
export const isTooLong = (start: Date, end: Date | null): boolean =>
  end !== null && Math.abs(end.getTime() - start.getTime()) > MAX_MINUTES * MINUTE_MS;
