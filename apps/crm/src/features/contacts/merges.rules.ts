import { caseFolded } from '@tessera/fields';
import type { AnswerOf } from '../../records/kind.ts';
import type { contact } from './contacts.kind.ts';
import { containsNotes, joinedNotes, MAX_NOTES, withoutNotes } from './merged-notes.ts';

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

const fields = ['last_name', 'email', 'phone', 'title', 'company_id', 'owner_id'] as const;
/** List -> the number of items that it can have. */
const lists = { tags: 50, emails: 20, phones: 20, addresses: 20 } as const;
type ListName = keyof typeof lists;
const listNames = Object.keys(lists) as ListName[];

/** The columns of a contact that a merge changes. */
export type MergedColumns = Partial<
  Pick<Contact, (typeof fields)[number] | ListName | 'notes' | 'custom'>
>;

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

/** A phone number without what people write between digits, or else the whole text. */
const numberOf = (phone: string): string => phone.replace(/[^\d+]/g, '') || phone;

/** A text without case and repeated white space. */
const plain = (value: unknown): string =>
  caseFolded(`${value ?? ''}`)
    .replace(/[\s,]+/g, ' ')
    .trim();

/** What identifies an item in its list. The label of an address does not. */
const identities: Readonly<Record<ListName, (item: unknown) => string>> = {
  tags: (item) => caseFolded(`${item}`),
  emails: (item) => (item as Contact['emails'][number]).email,
  phones: (item) => numberOf((item as Contact['phones'][number]).phone),
  addresses: (item) => {
    const { label: _label, ...lines } = item as Contact['addresses'][number];
    return textOf(
      Object.fromEntries(Object.entries(lines).map(([key, line]) => [key, plain(line)])),
    );
  },
};

/** What identifies the primary value of a contact in the list of further ones. */
const primaryOf = (
  name: ListName,
  { email, phone }: Pick<Contact, 'email' | 'phone'>,
): string | undefined => {
  if (name === 'emails') return email ?? undefined;
  return name === 'phones' && phone !== null ? numberOf(phone) : undefined;
};

/** The label of a primary address or number of the merged contact that the survivor keeps as a further one. */
const LABEL = 'merged';

/** The items of a list of the merged contact, with the primary value that the survivor has no place for. */
const itemsOf = (name: ListName, survivor: Contact, merged: Contact): readonly unknown[] => {
  if (name === 'emails' && survivor.email !== null && merged.email !== null) {
    return [{ label: LABEL, email: merged.email }, ...merged.emails];
  }
  if (name === 'phones' && survivor.phone !== null && merged.phone !== null) {
    return [{ label: LABEL, phone: merged.phone }, ...merged.phones];
  }
  return merged[name];
};

/** The items that the survivor lacks in its list and as its primary value, each once. */
const lackingItems = (name: ListName, survivor: Contact, merged: Contact): unknown[] => {
  const identity = identities[name];
  const primary = primaryOf(name, {
    email: survivor.email ?? merged.email,
    phone: survivor.phone ?? merged.phone,
  });
  const known = new Set([...survivor[name].map(identity), ...(primary ? [primary] : [])]);
  return itemsOf(name, survivor, merged).filter((item) => {
    const isNew = !known.has(identity(item));
    known.add(identity(item));
    return isNew;
  });
};

/** Whether the primary value of the merged contact is a further one of the survivor. */
const isFurther = (name: (typeof fields)[number], survivor: Contact, merged: Contact): boolean => {
  if (name !== 'email' && name !== 'phone') return false;
  const list = `${name}s` as const;
  const primary = primaryOf(list, merged);
  return survivor[list].map(identities[list]).some((one) => one === primary);
};

/**
 * What the survivor of a merge takes from the other contact: the values of fields that are empty, custom ones
 * included, the items that its lists lack, and notes, which follow its own.
 */
export const takenBy = (survivor: Contact, merged: Contact): MergedColumns => {
  const values = fields
    .filter((name) => survivor[name] === null && merged[name] !== null)
    .filter((name) => !isFurther(name, survivor, merged))
    .map((name) => [name, merged[name]]);
  const items = listNames.map((name) => [name, lackingItems(name, survivor, merged)]);
  const custom = entriesWhere(merged.custom, (key) => !Object.hasOwn(survivor.custom, key));
  const isNoted = merged.notes === null || containsNotes(survivor.notes, merged.notes);
  const notes = isNoted ? {} : { notes: merged.notes };
  return { ...Object.fromEntries([...values, ...items]), ...notes, custom };
};

/** What would be too much with what a survivor takes: "more than 20 emails". */
export const tooMuch = (survivor: Contact, taken: MergedColumns): readonly string[] => {
  const long = listNames
    .filter((name) => survivor[name].length + (taken[name]?.length ?? 0) > lists[name])
    .map((name) => `more than ${lists[name]} ${name}`);
  const notes = taken.notes == null ? '' : joinedNotes(survivor.notes, taken.notes);
  return [...notes].length > MAX_NOTES
    ? [...long, `notes of more than ${MAX_NOTES} characters`]
    : long;
};

/** The values of the survivor that it took in earlier merges, and that the other contact has, too. */
export const sharedWithEarlier = (
  survivor: Contact,
  merged: Contact,
  earlier: readonly MergedColumns[],
): MergedColumns => {
  const own = { ...survivor };
  for (const taken of earlier) Object.assign(own, withoutTaken(own, taken));
  const { notes } = merged;
  const isShared =
    notes !== null && containsNotes(survivor.notes, notes) && !containsNotes(own.notes, notes);
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
  const shared = isShared ? { notes } : {};
  return { ...Object.fromEntries([...values, ...items]), ...shared, custom };
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
  { custom, notes, ...taken }: MergedColumns,
): MergedColumns => ({
  ...(notes != null && { notes: joinedNotes(survivor.notes, notes) }),
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
  { custom = {}, notes = null, ...taken }: MergedColumns,
): MergedColumns => ({
  ...(notes !== null &&
    survivor.notes !== null &&
    containsNotes(survivor.notes, notes) && { notes: withoutNotes(survivor.notes, notes) }),
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
