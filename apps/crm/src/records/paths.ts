import type { Kind } from './kind.ts';

/** `first_name` as `firstName`. */
export const camel = (name: string): string =>
  name.replace(/[ _](\w)/g, (_, letter: string) => letter.toUpperCase());

/** `a contact`, `an address`. */
export const withArticle = (name: string): string => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;

/** The paths of one kind, below `/api/crm`, and the names of their parameters. */
export interface Paths {
  /** Of the list: `/contacts`, `/projects/{id}/members`. */
  readonly all: string;
  /** Of one record: `/contacts/{id}`, `/projects/{id}/members/{userId}`. */
  readonly one: string;
  readonly parentParameter: string | undefined;
  readonly keyParameter: string;
}

/** A parent is `{id}`; what lies below it is named after its key: `{userId}`, or `{commentId}` for an id. */
export const pathsOf = ({ path, parent, key, name }: Kind): Paths => {
  if (!parent) {
    return { all: path, one: `${path}/{id}`, parentParameter: undefined, keyParameter: 'id' };
  }
  const keyParameter = key === 'id' ? `${camel(name)}Id` : camel(key);
  const all = `${parent.kind.path}/{id}${path}`;
  return { all, one: `${all}/{${keyParameter}}`, parentParameter: 'id', keyParameter };
};
