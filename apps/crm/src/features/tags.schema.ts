import { list, text, withDefault } from '@tessera/fields';

/** A tag; upper and lower case differ. */
export const tag = text(50);

/** The tags of a record, in the order in which they were given. */
export const tags = withDefault(list(tag, { max: 50, unique: true }), []);
