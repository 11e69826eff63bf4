import { invalidField } from '@tessera/http-kit';

const DAY_MS = 86_400_000;

/** A range of days, `YYYY-MM-DD`; both ends are included. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** Throws 422 on `to` if a period ends before it begins, or has more than `maxDays` days. */
export const checkPeriod = ({ from, to }: Period, maxDays: number): void => {
  if (to < from) throw invalidField('to', 'to must not be before from');
  if ((Date.parse(to) - Date.parse(from)) / DAY_MS >= maxDays) {
    throw invalidField('to', `to must be within ${maxDays} days of from`);
  }
};
