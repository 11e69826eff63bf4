import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import {
  type FieldErrors,
  type Fields,
  type OutOf,
  readTexts,
  shape,
  validate,
} from '@tessera/fields';

const readLists = (fields: Fields, texts: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [
      name,
      fields[name]?.json.type === 'array' ? value.split(',').map((item) => item.trim()) : value,
    ]),
  );

type Environment = Readonly<Record<string, string | undefined>>;

/** Says why a variable is invalid, without its value. */
class InvalidSetting extends Error {}

/**
 * The path in `<name>_FILE` for a message. A value that is not an absolute path may be a secret, so it is not
 * shown.
 */
const named = (name: string, path: string): string =>
  `${name}_FILE names ${isAbsolute(path) ? path : 'a file'}`;

/** The content of the file that `<name>_FILE` names, without the final line break. */
const contentOf = (name: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InvalidSetting(`${named(name, path)}, which cannot be read (${code})`);
  }
};

/** The value of a variable, or the content of its file; undefined if neither is set. */
const textOf = (name: string, environment: Environment): string | undefined => {
  const value = environment[name] || undefined;
  const path = environment[`${name}_FILE`];
  if (!path) return value;
  if (value !== undefined) throw new InvalidSetting(`${name} and ${name}_FILE exclude each other`);
  const content = contentOf(name, path);
  if (content === '') throw new InvalidSetting(`${named(name, path)}, which is empty`);
  return content;
};

/**
 * Reads the declared variables from an environment. Empty variables count as unset, and lists are separated by
 * commas. `<NAME>_FILE` names a file with the value of `<NAME>`, for mounted secrets. Throws one error that
 * names every invalid variable, never its value.
 */
export const readSettings = <const F extends Fields>(
  fields: F,
  environment: Environment,
): OutOf<F> => {
  const declared = shape(fields);
  const given: Record<string, string> = {};
  const problems: FieldErrors = {};
  for (const name of Object.keys(fields)) {
    try {
      const value = textOf(name, environment);
      if (value !== undefined) given[name] = value;
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      problems[name] = [error.message];
    }
  }
  const result = validate(declared, readTexts(declared, readLists(fields, given)), 'environment');
  // A variable whose file cannot be read is not also reported as missing.
  const all = { ...(result.ok ? {} : result.errors), ...problems };
  const messages = Object.values(all).flat();
  if (result.ok && messages.length === 0) return result.value as OutOf<F>;
  throw new Error(`Invalid configuration:\n${messages.map((m) => `- ${m}`).join('\n')}`);
};
