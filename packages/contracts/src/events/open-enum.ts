import { type Field, oneOf, text } from '@tessera/fields';

/**
 * One of these values, or one that a later release has added: consumers must ignore what they do not know, so they parse it.
 * The schema and the type have the values of this release, which are all that publishers send.
 */
export const openEnum = <const V extends string>(
  ...values: readonly [V, ...V[]]
): Field<V, false> => ({ ...oneOf(...values), joi: text(50).joi });
