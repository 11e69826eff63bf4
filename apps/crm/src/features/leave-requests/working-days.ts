/** The days of a leave. */
export interface LeaveDays {
  /** YYYY-MM-DD. */
  readonly first_day: string;
  /** YYYY-MM-DD; not before the first day. */
  readonly last_day: string;
  /** Whether the leave begins at noon. */
  readonly is_first_day_half: boolean;
  /** Whether the leave ends at noon. */
  readonly is_last_day_half: boolean;
}

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;

/** The number of a day in ISO 8601: 1 is Monday, 7 is Sunday. */
const weekdayOf = (day: number): number => new Date(day).getUTCDay() || DAYS_OF_WEEK;

/** How many days there are from the first to the last, weekends included. */
export const calendarDays = ({
  first_day,
  last_day,
}: Pick<LeaveDays, 'first_day' | 'last_day'>): number =>
  (Date.parse(last_day) - Date.parse(first_day)) / DAY_MS + 1;

/** The working days of a leave by a working week of ISO weekdays (1 is Monday). A half day counts as 0.5. */
export const countWorkingDays = (leave: LeaveDays, week: readonly number[]): number => {
  const [first, last] = [Date.parse(leave.first_day), Date.parse(leave.last_day)];
  const isWorking = (day: number): boolean => week.includes(weekdayOf(day));
  const days = calendarDays(leave);
  let count = Math.floor(days / DAYS_OF_WEEK) * week.length;
  for (let rest = days % DAYS_OF_WEEK; rest > 0; rest -= 1) {
    if (isWorking(last - (rest - 1) * DAY_MS)) count += 1;
  }
  if (leave.is_first_day_half && isWorking(first)) count -= 0.5;
  if (leave.is_last_day_half && isWorking(last)) count -= 0.5;
  return count;
};
