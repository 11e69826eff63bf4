import { caseFolded } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { saveTakenTags } from './merges.repository.ts';
import type { MergedColumns } from './merges.rules.ts';

const { sql } = Prisma;

/** A tag that is renamed, or removed if there is no name. */
interface TagReplacement {
  readonly tag: string;
  readonly name: string | undefined;
}

/** What a contact took in one merge, and its tags. */
interface Taken {
  readonly id: string;
  readonly survivor_id: string;
  readonly taken: MergedColumns;
  readonly tags: readonly string[];
}

const contains = (tags: readonly (string | undefined)[] = [], tag: string): boolean =>
  tags.some((one) => one !== undefined && caseFolded(one) === caseFolded(tag));

/** The tags that one of the merges of a contact took, once the tag is replaced. */
const replaced = (
  own: readonly string[],
  { tag, name }: TagReplacement,
  all: readonly Taken[],
): readonly string[] => {
  const isOwn = (one: string): boolean =>
    contains(tags, one) && !all.some(({ taken }) => contains(taken.tags, one));
  const { tags = [] } = all[0] ?? {};
  const others = own.filter((one) => !contains([tag, name], one));
  // A tag that the contact has without any merge stays when merges are undone.
  if (name === undefined || isOwn(tag) || isOwn(name)) return others;
  // The contact may have lost the other tag since.
  const isTaken = contains(own, tag) || (contains(own, name) && contains(tags, name));
  return isTaken ? [...others, name] : others;
};

/**
 * Replaces a tag in what these contacts took in merges, before it is replaced in the contacts themselves: otherwise,
 * undoing a merge would leave it, or remove one that the contact had before. The contacts are locked, and the lock of merges
 * is shared.
 */
export const replaceTakenTag = async (
  db: TenantDb,
  contactIds: readonly string[],
  replacement: TagReplacement,
): Promise<void> => {
  const { tag, name = tag } = replacement;
  const found = await db.query<Taken>(sql`
    SELECT merge.id, merge.survivor_id, merge.taken, contact.tags
    FROM tenant_crm.contact_merges AS merge
    JOIN tenant_crm.contacts AS contact
      ON contact.tenant_id = merge.tenant_id AND contact.id = merge.survivor_id
    WHERE merge.tenant_id = ${db.tenantId}::uuid AND merge.survivor_id = ANY(${contactIds}::uuid[])
      AND merge.undone_at IS NULL AND merge.taken -> 'tags' <> '[]'`);
  const merges = found.filter(
    ({ tags, taken }) =>
      contains(tags, tag) && (contains(taken.tags, tag) || contains(taken.tags, name)),
  );
  for (const { id, survivor_id: survivorId, taken } of merges) {
    const all = merges.filter((one) => one.survivor_id === survivorId);
    const tags = replaced(taken.tags ?? [], replacement, all);
    await saveTakenTags(db, id, tags);
  }
};
