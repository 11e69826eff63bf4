import { duration } from '../../mail/texts/format.ts';

/** How long somebody has to wait, in words: to the second while these can be counted, else to the minute. */
export const waiting = (language: string, seconds: number): string =>
  duration(language, seconds < 90 ? seconds : Math.ceil(seconds / 60) * 60);
