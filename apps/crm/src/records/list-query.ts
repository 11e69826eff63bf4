import {
  bool,
  described,
  type Field,
  mapOf,
  type Out,
  oneOf,
  optional,
  rawText,
  type Shape,
  shape,
  withDefault,
} from '@tessera/fields';
import { pageParameters } from '@tessera/http-kit';
import type { Kind, KindTypes } from './kind.ts';
import { mayBeNull } from './row.ts';

/** The query parameters for paging. */
export const pageFields = pageParameters(25);

type FilterValues<T extends KindTypes> = {
  readonly [K in keyof T['filters']]?: Out<T['filters'][K]['field']>;
};

/** The search and the filters that a request applies to a kind's list. */
export type Narrowing<T extends KindTypes> = FilterValues<T> & { readonly search?: string };

type Sort<T extends KindTypes> = T['sort'] | `-${T['sort']}`;

/** The query parameters of a kind's export, besides the format. */
export type ExportQuery<T extends KindTypes> = Narrowing<T> & { readonly sort?: Sort<T> };

/** The query parameters of a kind's list. */
export type ListQuery<T extends KindTypes> = Narrowing<T> & {
  readonly page: number;
  readonly per_page: number;
  readonly sort: Sort<T>;
  /** Whether to count all matches, although `meta.total` normally stops at 10,000. */
  readonly exact_total: boolean;
};

/** The query parameters of a kind's search and filters. */
export const narrowingFields = <T extends KindTypes>({
  search,
  alsoSearched,
  filters,
  tenantFields,
}: Kind<T>): Record<string, Field> => ({
  ...(search && {
    search: described(
      optional(rawText(200, 0)),
      `Matches anywhere in the text, regardless of case and diacritics.${alsoSearched ? ` ${alsoSearched.description}` : ''}`,
    ),
  }),
  ...Object.fromEntries(
    Object.entries(filters).flatMap(([name, { field, parameters = {} }]) => [
      [name, optional(field)],
      ...Object.entries(parameters),
    ]),
  ),
  ...(tenantFields && {
    [tenantFields.column]: described(
      optional(mapOf(rawText(1000))),
      `By fields that the tenant has declared as filterable, as \`${tenantFields.column}.<key>=<value>\` or \`${tenantFields.column}[<key>]=<value>\`.`,
    ),
  }),
});

const sortField = ({ sort }: Pick<Kind, 'sort'>) =>
  oneOf(...Object.keys(sort).flatMap((name) => [name, `-${name}`]));

/** How `sort` orders records. Without saying so, the keys that not all records have would seem to always sort these last. */
const orderOf = ({ sort, answer }: Pick<Kind, 'sort' | 'answer'>): string => {
  const keys = Object.entries(sort).flatMap(([name, column]) => {
    const field = answer.fields[column];
    return field && mayBeNull(field.json) ? [`\`${name}\``] : [];
  });
  const descending = '`-` in front: descending.';
  if (keys.length === 0) return descending;
  return `${descending} By ${keys.join(' or ')}, records without a value come last, and first in descending order.`;
};

const changedMeanwhile =
  'A record whose value changes during the export may be missing or appear twice.';

/**
 * The query parameters of a kind's export, besides the format. By default, records are in the order of their ids, which
 * never change. Those of a parent are in the order of their list, because their indexes begin with the parent.
 */
export const exportFields = <T extends KindTypes>(kind: Kind<T>): Record<string, Field> => ({
  sort: kind.parent
    ? described(
        withDefault(sortField(kind), kind.defaultSort),
        `${orderOf(kind)} ${changedMeanwhile}`,
      )
    : described(optional(sortField(kind)), `${orderOf(kind)} Default: by id. ${changedMeanwhile}`),
  ...narrowingFields(kind),
});

/** The shape of a list's query parameters. */
export const listQuery = <T extends KindTypes>(kind: Kind<T>): Shape & Field<ListQuery<T>> => {
  const query = shape({
    ...pageFields,
    sort: described(withDefault(sortField(kind), kind.defaultSort), orderOf(kind)),
    exact_total: described(
      withDefault(bool(), false),
      kind.listsDeleted === 'only'
        ? 'Beyond 10,000, `meta.total` is a minimum unless this is true.'
        : 'Beyond 10,000, `meta.total` of a filtered list is a minimum unless this is true.',
    ),
    ...narrowingFields(kind),
  });
  return query as Shape as Shape & Field<ListQuery<T>>;
};
