import { type Field, field } from './field.ts';
import { string } from './string.ts';

const daysIn = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate();

const isCalendarDate = (value: string): boolean => {
  const [year = 0, month = 0, day = 0] = value.split('-').map(Number);
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
};

/**
 * `date-time` of RFC 3339 section 5.6, with T and Z in either case, a space instead of T, any fraction, and
 * leap seconds.
 */
const TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const MINUTE_MS = 60_000;

/** The instant that a text denotes, to the millisecond; undefined if it is invalid. */
const momentOf = (text: string): Date | undefined => {
  const [, date, hour, minute, second, fraction = '', zone] = TIME.exec(text) ?? [];
  if (date === undefined || zone === undefined || !isCalendarDate(date)) return undefined;
  // `Date` supports neither leap seconds nor a lower-case zone, and engines differ in long fractions.
  const isLeap = second === '60';
  const seconds = isLeap ? '59' : second;
  const moment = new Date(
    `${date}T${hour}:${minute}:${seconds}${fraction.slice(0, 4)}${zone.toUpperCase()}`,
  );
  if (!isLeap) return moment;
  // A leap second ends the last minute of a UTC day; it is read as the start of the next day.
  if (moment.getUTCHours() !== 23 || moment.getUTCMinutes() !== 59) return undefined;
  return new Date(Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS + MINUTE_MS);
};

/**
 * Whether a moment can be a value of `time`: its year has four digits in UTC. `0001-01-01T00:00:00+10:00` is in the year 0.
 */
export const isTimeInRange = (moment: Date): boolean =>
  moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999;

/**
 * An instant in RFC 3339 format with a time zone; in code a `Date`, in responses UTC with milliseconds. A leap
 * second is read as the start of the next day. Days that do not exist are rejected.
 */
export const time = (): Field<Date, false> =>
  field(
    string((value, { error }) => {
      const moment = value.length <= 100 ? momentOf(value) : undefined;
      return moment && isTimeInRange(moment) ? moment : error('time.invalid');
    }),
    { type: 'string', format: 'date-time', maxLength: 100 },
  );

/** An existing calendar date in the form `YYYY-MM-DD`. */
export const date = (): Field<string, false> =>
  field(
    string((value, { error }) =>
      /^\d{4}-\d{2}-\d{2}$/.test(value) && isCalendarDate(value) ? value : error('date.invalid'),
    ),
    { type: 'string', format: 'date' },
  );

const isTimeZone = (value: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
};

/** The names of the IANA database without a region. New zones have one, and the runtime knows further abbreviations. */
const WITHOUT_REGION =
  'CET|CST6CDT|Cuba|EET|EST|EST5EDT|Egypt|Eire|GB|GB-Eire|GMT|GMT\\+0|GMT-0|GMT0|Greenwich|HST|Hongkong|Iceland|' +
  'Iran|Israel|Jamaica|Japan|Kwajalein|Libya|MET|MST|MST7MDT|NZ|NZ-CHAT|Navajo|PRC|PST8PDT|Poland|Portugal|ROC|ROK|' +
  'Singapore|Turkey|UCT|UTC|Universal|W-SU|WET|Zulu';

/**
 * The name of a time zone in the IANA database, including former names. JSON Schema describes only the form: the names
 * change from year to year, so the runtime's list is checked.
 */
export const timeZone = (): Field<string, false> => {
  const pattern = new RegExp(`^(${WITHOUT_REGION}|[A-Z][A-Za-z]+(/[A-Z][A-Za-z_+-]*[0-9]{0,2})+)$`);
  return field(
    string((value, { error }) =>
      value.length <= 64 && pattern.test(value) && isTimeZone(value)
        ? value
        : error('timezone.invalid'),
    ),
    { type: 'string', maxLength: 64, pattern: pattern.source, examples: ['Europe/Budapest'] },
  );
};
