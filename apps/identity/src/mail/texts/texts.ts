import type { MailData, MailKind } from '../mails.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { hu } from './hu.ts';

/** What a mail says, in the order in which it is read. */
export interface MailText {
  readonly subject: string;
  readonly greeting: string;
  readonly paragraphs: readonly string[];
  /** What the button says that leads to the link; absent where there is none. */
  readonly action?: string;
  /** Below the button. */
  readonly notes: readonly string[];
}

/** The texts of one language. */
export interface Texts {
  /** Below a button, before its address. */
  readonly copyTheAddress: string;
  /** At the very end. */
  readonly whyThisMail: string;
  readonly mails: { readonly [K in MailKind]: (data: MailData[K]) => MailText };
}

const languages = new Map<string, Texts>(Object.entries({ en, hu, de }));

/** The language of a locale and its texts; English where there are none. */
export const textsFor = (locale: string): { language: string; texts: Texts } => {
  const texts = languages.get(locale);
  return texts ? { language: locale, texts } : { language: 'en', texts: en };
};
