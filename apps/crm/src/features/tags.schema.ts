import { tagList, tagText, withDefault } from '@tessera/fields';

/** A tag of a contact or company. */
export const tag = tagText(50);

/** The tags of a record, in the order in which they were given. */
export const tags = withDefault(tagList(tag), []);
