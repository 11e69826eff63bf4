import type { AnswerOf } from '../../records/kind.ts';
import type { contact } from './contacts.kind.ts';

type Contact = AnswerOf<typeof contact>;

const DAY_MS = 86_400_000;
/** How long a merge can be undone. */
const REVERSIBLE_MS = 30 * DAY_MS;

/** Until when a merge can be undone. */
export const reversibleUntil = ({ merged_at: at }: { readonly merged_at: Date }): Date =>
  new Date(at.getTime() + REVERSIBLE_MS);

/** Whether a merge can still be undone. */
export const isReversible = (merge: { readonly merged_at: Date }): boolean =>
  Date.now() <= reversibleUntil(merge).getTime();

const fields = ['last_name', 'email', 'phone', 'title', 'company_id', 'owner_id', 'notes'] as const;
/** List -> the number of items that it can have. */
const lists = { tags: 50, emails: 20, phones: 20, addresses: 20 } as const;
type ListName = keyof typeof lists;
const listNames = Object.keys(lists) as ListName[];

/** The columns of a contact that a merge changes. */
export type MergedColumns = Partial<Pick<Contact, (typeof fields)[number] | ListName | 'custom'>>;

type CustomValues = Contact['custom'];

/** The entries of the first object for which the condition holds. */
const entriesWhere = (
  values: CustomValues,
  isWanted: (key: string, value: unknown) => boolean,
): CustomValues =>
  Object.fromEntries(Object.entries(values).filter(([key, value]) => isWanted(key, value)));

/** An item as text that is the same if its members are in the order in which PostgreSQL returns them. */
const textOf = (item: unknown): string =>
  JSON.stringify(item, typeof item === 'object' ? Object.keys(item ?? {}).sort() : undefined);

/** What identifies an item in its list. */
const identities: Readonly<Record<ListName, (item: unknown) => string>> = {
  tags: (item) => `${item}`,
  emails: (item) => (item as Contact['emails'][number]).email,
  phones: (item) => (item as Contact['phones'][number]).phone,
  addresses: textOf,
};

/** The label of a primary address or number of the merged contact that the survivor keeps as a further one. */
const LABEL = 'merged';

/** The items of a list of the merged contact, with the primary value that the survivor has no place for. */
const itemsOf = (name: ListName, survivor: Contact, merged: Contact): readonly unknown[] => {
  if (name === 'emails' && survivor.email !== null && merged.email !== null) {
    const primary = merged.email === survivor.email ? [] : [{ label: LABEL, email: merged.email }];
    return [...primary, ...merged.emails];
  }
  if (name === 'phones' && survivor.phone !== null && merged.phone !== null) {
    const primary = merged.phone === survivor.phone ? [] : [{ label: LABEL, phone: merged.phone }];
    return [...primary, ...merged.phones];
  }
  return merged[name];
};

/** The items that the survivor's list lacks, each once. */
const lackingItems = (name: ListName, survivor: Contact, merged: Contact): unknown[] => {
  const identity = identities[name];
  const known = new Set(survivor[name].map(identity));
  return itemsOf(name, survivor, merged).filter((item) => {
    const isNew = !known.has(identity(item));
    known.add(identity(item));
    return isNew;
  });
};

/**
 * What the survivor of a merge takes from the other contact: the values of fields that are empty, custom ones
 * included, and the items that its lists lack.
 */
export const takenBy = (survivor: Contact, merged: Contact): MergedColumns => {
  const values = fields
    .filter((name) => survivor[name] === null && merged[name] !== null)
    .map((name) => [name, merged[name]]);
  const items = listNames.map((name) => [name, lackingItems(name, survivor, merged)]);
  const custom = entriesWhere(merged.custom, (key) => !Object.hasOwn(survivor.custom, key));
  return { ...Object.fromEntries([...values, ...items]), custom };
};

/** The lists that would be too long with what a survivor takes, and the number of items that each can have. */
export const tooLongLists = (
  survivor: Contact,
  taken: MergedColumns,
): readonly (readonly [ListName, number])[] =>
  listNames
    .filter((name) => survivor[name].length + (taken[name]?.length ?? 0) > lists[name])
    .map((name) => [name, lists[name]]);

/** The values of the survivor that it took in earlier merges, and that the other contact has, too. */
export const sharedWithEarlier = (
  survivor: Contact,
  merged: Contact,
  earlier: readonly MergedColumns[],
): MergedColumns => {
  const own = { ...survivor };
  for (const taken of earlier) Object.assign(own, withoutTaken(own, taken));
  const values = fields
    .filter((name) => own[name] === null && survivor[name] !== null)
    .filter((name) => survivor[name] === merged[name])
    .map((name) => [name, survivor[name]]);
  const items = listNames.map((name): [string, unknown[]] => {
    const identity = identities[name];
    const kept = new Set(own[name].map(identity));
    const given = new Set(itemsOf(name, survivor, merged).map(identity));
    const all: readonly unknown[] = survivor[name];
    return [name, all.filter((item) => !kept.has(identity(item)) && given.has(identity(item)))];
  });
  const custom = entriesWhere(
    survivor.custom,
    (key, value) =>
      !Object.hasOwn(own.custom, key) &&
      Object.hasOwn(merged.custom, key) &&
      merged.custom[key] === value,
  );
  return { ...Object.fromEntries([...values, ...items]), custom };
};

/** What two parts of a contact have together. */
export const together = (one: MergedColumns, other: MergedColumns): MergedColumns => {
  const items = listNames.map((name) => [name, [...(one[name] ?? []), ...(other[name] ?? [])]]);
  return {
    ...one,
    ...other,
    ...Object.fromEntries(items),
    custom: { ...one.custom, ...other.custom },
  };
};

/** What was taken from one contact, without what others have given, too. */
export const withoutShared = (
  { custom = {}, ...taken }: MergedColumns,
  others: readonly MergedColumns[],
): MergedColumns => {
  const entries = Object.entries(taken).flatMap(([name, value]): [string, unknown][] => {
    const given = others.map((other) => other[name as keyof typeof taken]);
    if (!Array.isArray(value)) return given.includes(value) ? [] : [[name, value]];
    const items = new Set(given.flatMap((of) => (of as unknown[] | undefined) ?? []).map(textOf));
    const all: readonly unknown[] = value;
    return [[name, all.filter((item) => !items.has(textOf(item)))]];
  });
  const isGiven = (key: string, value: unknown): boolean =>
    others.some((other) => Object.hasOwn(other.custom ?? {}, key) && other.custom?.[key] === value);
  return {
    ...Object.fromEntries(entries),
    custom: entriesWhere(custom, (key, value) => !isGiven(key, value)),
  };
};

/** The survivor's columns with what it takes. */
export const withTaken = (
  survivor: Contact,
  { custom, ...taken }: MergedColumns,
): MergedColumns => ({
  ...Object.fromEntries(
    Object.entries(taken).map(([name, value]) => [
      name,
      Array.isArray(value) ? [...survivor[name as ListName], ...value] : value,
    ]),
  ),
  custom: { ...survivor.custom, ...custom },
});

/** The survivor's columns without what it took, except for values that have changed since. */
export const withoutTaken = (
  survivor: Contact,
  { custom = {}, ...taken }: MergedColumns,
): MergedColumns => ({
  ...Object.fromEntries(
    Object.entries(taken).flatMap(([name, value]): [string, unknown][] => {
      if (!Array.isArray(value)) {
        return survivor[name as (typeof fields)[number]] === value ? [[name, null]] : [];
      }
      const items = new Set(value.map(textOf));
      const all: readonly unknown[] = survivor[name as ListName];
      const kept = all.filter((item) => !items.has(textOf(item)));
      return [[name, kept]];
    }),
  ),
  custom: entriesWhere(
    survivor.custom,
    (key, value) => !(Object.hasOwn(custom, key) && custom[key] === value),
  ),
});
