import { type Field, oneOf, text } from '@tessera/fields';

/**
 * One of these values, or one that a later release has added: consumers must ignore what they do not know, so they parse it.
 * The schema lists the values of this release.
 */
export const openEnum = <const V extends string>(
  ...values: readonly [V, ...V[]]
): Field<V | (string & {}), false> => ({ ...text(50), json: oneOf(...values).json });
