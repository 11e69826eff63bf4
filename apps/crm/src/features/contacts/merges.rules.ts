import type { AnswerOf } from '../../records/kind.ts';
import type { contact } from './contacts.kind.ts';

type Contact = AnswerOf<typeof contact>;

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

/** What identifies an item in its list. */
const identities: Readonly<Record<ListName, (item: unknown) => string>> = {
  tags: (item) => `${item}`,
  emails: (item) => (item as Contact['emails'][number]).email,
  phones: (item) => (item as Contact['phones'][number]).phone,
  addresses: (item) => JSON.stringify(item),
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

/** The items that the survivor's list lacks and has room for, each once. */
const lackingItems = (name: ListName, survivor: Contact, merged: Contact): unknown[] => {
  const identity = identities[name];
  const known = new Set(survivor[name].map(identity));
  const lacking = itemsOf(name, survivor, merged).filter((item) => {
    const isNew = !known.has(identity(item));
    known.add(identity(item));
    return isNew;
  });
  return lacking.slice(0, lists[name] - survivor[name].length);
};

/**
 * What the survivor of a merge takes from the other contact: the values of fields that are empty, custom ones
 * included, and the items that its lists lack, as far as there is room.
 */
export const takenBy = (survivor: Contact, merged: Contact): MergedColumns => {
  const values = fields
    .filter((name) => survivor[name] === null && merged[name] !== null)
    .map((name) => [name, merged[name]]);
  const items = listNames.map((name) => [name, lackingItems(name, survivor, merged)]);
  const custom = entriesWhere(merged.custom, (key) => !Object.hasOwn(survivor.custom, key));
  return { ...Object.fromEntries([...values, ...items]), custom };
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
      const items = new Set(value.map((item) => JSON.stringify(item)));
      const all: readonly unknown[] = survivor[name as ListName];
      const kept = all.filter((item) => !items.has(JSON.stringify(item)));
      return [[name, kept]];
    }),
  ),
  custom: entriesWhere(
    survivor.custom,
    (key, value) => !(Object.hasOwn(custom, key) && custom[key] === value),
  ),
});
