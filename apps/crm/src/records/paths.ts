import type { Kind } from './kind.ts';

/** `first_name` -> `firstName`. */
export const camel = (name: string): string =>
  name.replace(/[ _](\w)/g, (_, letter: string) => letter.toUpperCase());

/** `a contact`, `an address`. */
export const withArticle = (name: string): string => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;

/** The paths of a kind below `/api/crm`, and the names of their parameters. */
export interface Paths {
  /** The path of the list: `/contacts`, `/projects/{id}/members`. */
  readonly all: string;
  /** The path of one record: `/contacts/{id}`, `/projects/{id}/members/{userId}`. */
  readonly one: string;
  readonly parentParameter: string | undefined;
  readonly keyParameter: string;
}

/**
 * The parameter of a parent is `{id}`; that of a child has the name of its key: `{userId}`, or `{commentId}`
 * for an id.
 */
export const pathsOf = ({ path, parent, key, name }: Kind): Paths => {
  if (!parent) {
    return { all: path, one: `${path}/{id}`, parentParameter: undefined, keyParameter: 'id' };
  }
  const keyParameter = key === 'id' ? `${camel(name)}Id` : camel(key);
  const all = `${parent.kind.path}/{id}${path}`;
  return { all, one: `${all}/{${keyParameter}}`, parentParameter: 'id', keyParameter };
};
