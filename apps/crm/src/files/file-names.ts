import { type Field, text, withRule } from '@tessera/fields';
import { cutName } from '@tessera/http-kit';

/**
 * What can turn a name into a path on any system, also after any number of percent-decodings: separators, control
 * characters, their encoded and overlong forms, and drive letters. Also the characters that reverse the direction of
 * text, which can hide the extension of a name.
 */
const UNSAFE =
  /[\p{Cc}\u2028-\u202e\u2066-\u2069/\\]|%(?:25)*(?:[01][\da-f]|7f|2f|5c|c[01]|(?:e0%(?:25)*[89]|f0%(?:25)*8))|^\s*[a-z]:/iu;
const ALL_UNSAFE = new RegExp(UNSAFE, 'giu');

/** Whether a name consists of dots, also percent-encoded, and therefore means a directory. */
const isDirectory = (name: string): boolean => /^(?:\.|%(?:25)*2e)+$/i.test(name);

/** The longest name, in characters. */
const MAX_NAME = 255;

/** The name of a file or folder. It is never part of a path, but clients may save files under it. */
export const fileName = (): Field<string, false> =>
  withRule(text(MAX_NAME), (name) =>
    UNSAFE.test(name) || isDirectory(name)
      ? 'must not contain slashes, backslashes or control characters, also percent-encoded, must not begin with a drive letter, and must not be dots only'
      : undefined,
  );

/** The name under which an uploaded file is kept: cut before its extension, with everything replaced that `fileName` rejects. */
export const safeName = (uploaded: string | null): string => {
  const whole = (uploaded ?? '').toWellFormed().replace(ALL_UNSAFE, '_').trim();
  const name = cutName(whole, MAX_NAME).trim();
  return name === '' || isDirectory(name) ? 'file' : name;
};
