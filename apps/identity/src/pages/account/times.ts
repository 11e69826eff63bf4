import type { Language } from '../texts/texts.ts';

/** Formats times in a language and time zone. */
export interface Times {
  /** "Today", "Yesterday", or the date with its weekday. */
  day(at: Date): string;
  /** The date: "November 3, 2026". */
  date(at: Date): string;
  /** Time of day. */
  time(at: Date): string;
  /** Date and time. */
  moment(at: Date): string;
  /** Relative: "5 minutes ago", "3 days ago"; the date after 30 days. */
  ago(at: Date): string;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;
const MONTH = 30 * 86_400;

const capitalized = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1);

/** `timeZone` is an IANA name. */
export const timesFor = (language: Language, timeZone: string, now = new Date()): Times => {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(language, { ...options, timeZone });
    return (at: Date): string => formatter.format(at);
  };
  const date = format({ dateStyle: 'long' });
  const weekday = format({ dateStyle: 'full' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const today = date(now);
  /** Steps by hours, because not every day has 24 of them. */
  const yesterday = (): string => {
    let day = today;
    for (let at = +now; day === today; at -= 3_600_000) day = date(new Date(at));
    return day;
  };
  return {
    date,
    day(at) {
      if (date(at) === today) return capitalized(relative.format(0, 'day'));
      if (date(at) === yesterday()) return capitalized(relative.format(-1, 'day'));
      return weekday(at);
    },
    time: format({ timeStyle: 'short' }),
    moment: format({ dateStyle: 'long', timeStyle: 'short' }),
    ago(at) {
      const seconds = Math.max(0, (+now - +at) / 1000);
      if (seconds >= MONTH) return date(at);
      const unit = UNITS.find(([, size]) => seconds >= size);
      return unit
        ? relative.format(-Math.floor(seconds / unit[1]), unit[0])
        : relative.format(0, 'second');
    },
  };
};
