import type { ConstraintMessage } from '../../records/kind.ts';
import type { TaggedTable } from './tag-families.ts';

/**
 * How many different tags the records of a kind in a tenant can have together, each spelling counted. Lists and searches of tags
 * read all of them. The function `admit_tag` of the database enforces it wherever records get tags.
 */
export const MAX_TAGS_OF_KIND = 10_000;

/** The message for a tag beyond the limit, for the `constraints` of a kind. */
export const tagLimit = (table: TaggedTable): Readonly<Record<string, ConstraintMessage>> => ({
  [`${table}_tags_check`]: {
    field: 'tags',
    message: `tags has a new tag, and the records of this kind already have ${MAX_TAGS_OF_KIND} different ones together`,
  },
});
