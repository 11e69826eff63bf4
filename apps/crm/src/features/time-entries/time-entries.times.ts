const MINUTE_MS = 60_000;

/** From start to end, to the nearest minute, as the generated column `minutes`; null without an end. */
export const minutesBetween = (start: Date, end: Date | null): number | null =>
  end && Math.round((end.getTime() - start.getTime()) / MINUTE_MS);

export const minutesAfter = (start: Date, minutes: number): Date =>
  new Date(start.getTime() + minutes * MINUTE_MS);
