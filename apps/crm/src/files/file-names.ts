import { type Field, text, withRule } from '@tessera/fields';

/**
 * What can make a path of a name on any system, also after it has been percent-decoded any number of times: separators,
 * control characters, their encoded and overlong forms, and drive letters; and the characters that reverse the order of
 * text, which can hide the end of a name.
 */
const UNSAFE =
  /[\p{Cc}\u2028-\u202e\u2066-\u2069/\\]|%(?:25)*(?:[01][\da-f]|7f|2f|5c|c[01]|(?:e0%(?:25)*[89]|f0%(?:25)*8))|^\s*[a-z]:/iu;
const ALL_UNSAFE = new RegExp(UNSAFE, 'giu');

/** Names that mean a directory, also percent-encoded. */
const isDirectory = (name: string): boolean => /^(?:\.|%(?:25)*2e)+$/i.test(name);

/** The name of a file or folder. It is never part of a path, but clients may save files under it. */
export const fileName = (): Field<string, false> =>
  withRule(text(255), (name) =>
    UNSAFE.test(name) || isDirectory(name)
      ? 'must not contain slashes, backslashes or control characters, also percent-encoded, must not begin with a drive letter, and must not be dots only'
      : undefined,
  );

/** The name under which an uploaded file is kept, with everything replaced that `fileName` rejects. */
export const safeName = (uploaded: string | null): string => {
  const name = (uploaded ?? '').toWellFormed().replace(ALL_UNSAFE, '_').trim();
  return name === '' || isDirectory(name) ? 'file' : name;
};
