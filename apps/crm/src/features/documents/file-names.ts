import { type Field, text, withRule } from '@tessera/fields';

/** Control characters, and separators of the paths of any system. */
const UNSAFE = /[\p{Cc}\u2028\u2029/\\]/u;
const ALL_UNSAFE = new RegExp(UNSAFE, 'gu');

/** Names that mean a directory. */
const isDirectory = (name: string): boolean => /^\.+$/.test(name);

/** The name of a file or folder. It is never part of a path, but clients may save files under it. */
export const fileName = (): Field<string, false> =>
  withRule(text(255), (name) =>
    UNSAFE.test(name) || isDirectory(name)
      ? 'must not contain slashes, backslashes or control characters, and must not be dots only'
      : undefined,
  );

/** The name under which an uploaded file is kept, with everything replaced that `fileName` rejects. */
export const safeName = (uploaded: string | null): string => {
  const name = (uploaded ?? '').toWellFormed().replace(ALL_UNSAFE, '_').trim();
  return name === '' || isDirectory(name) ? 'file' : name;
};
