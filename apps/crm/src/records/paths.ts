import type { Field } from '@tessera/fields';
import type { Kind } from './kind.ts';

/** `first_name` -> `firstName`. */
export const camel = (name: string): string =>
  name.replace(/[ _](\w)/g, (_, letter: string) => letter.toUpperCase());

/** `a contact`, `an address`. */
export const withArticle = (name: string): string => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;

/** A path parameter with the key of a record. */
export interface PathParameter {
  readonly name: string;
  readonly field: Field<string>;
}

/** The paths of a kind below `/api/crm`, and their parameters. */
export interface Paths {
  /** The path of the list: `/contacts`, `/projects/{id}/members`. */
  readonly all: string;
  /** The path of one record: `/contacts/{id}`, `/projects/{id}/members/{userId}`. */
  readonly one: string;
  /** The parameters of the parents, from the outermost to the direct parent. */
  readonly parents: readonly PathParameter[];
  readonly key: PathParameter;
}

/**
 * The parameter of the outermost kind is `{id}`; those of children have the names of their keys: `{userId}`, or
 * `{commentId}` for an id. Throws if two kinds on the path would have the same parameter.
 */
export const pathsOf = ({ path, parent, key, keyField, name }: Kind): Paths => {
  if (!parent) {
    return { all: path, one: `${path}/{id}`, parents: [], key: { name: 'id', field: keyField } };
  }
  const above = pathsOf(parent.kind);
  const parents = [...above.parents, above.key];
  const parameter = key === 'id' ? `${camel(name)}Id` : camel(key);
  const all = `${above.one}${path}`;
  if (parents.some((other) => other.name === parameter)) {
    throw new TypeError(`${all}/{${parameter}}: two parameters have the same name`);
  }
  return {
    all,
    one: `${all}/{${parameter}}`,
    parents,
    key: { name: parameter, field: keyField },
  };
};
