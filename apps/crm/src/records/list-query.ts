import {
  bool,
  clamped,
  described,
  type Field,
  type Out,
  oneOf,
  optional,
  type Shape,
  shape,
  verbatim,
  withDefault,
} from '@tessera/fields';
import type { Declaration } from './declaration.ts';
import type { Filters } from './filters.ts';
import type { Column, RecordModel } from './model.ts';

const LAST_PAGE = 1_000_000_000;

/** Which page of a list is asked for. */
export const pageFields = {
  page: withDefault(clamped(1, LAST_PAGE), 1),
  per_page: withDefault(clamped(1, 100), 25),
} as const;

/** What every list can be asked for. */
interface Asked<Sort extends string> {
  readonly page: number;
  readonly per_page: number;
  readonly sort: Sort | `-${Sort}`;
  readonly search?: string;
  /** Count on, where `meta.total` would stop at 10,000. */
  readonly exact_total: boolean;
}

export type ListQuery<Sort extends string, F extends Filters> = Asked<Sort> & {
  readonly [K in keyof F]?: Out<F[K]['field']>;
};

/** The query parameters of a kind of record's list. */
export const listQuery = <
  M extends RecordModel,
  Input extends object,
  Answer extends object,
  Sort extends string,
  F extends Filters<Column<M>>,
>(
  declaration: Declaration<M, Input, Answer, Sort, F>,
): Shape & Field<ListQuery<Sort, F>> => {
  const { sort, defaultSort, search, filters } = declaration;
  const sorts = Object.keys(sort).flatMap((name) => [name, `-${name}`]);
  const query = shape({
    ...pageFields,
    sort: described(withDefault(oneOf(...sorts), defaultSort), '`-` in front: descending.'),
    exact_total: described(
      withDefault(bool(), false),
      'Beyond 10,000, `meta.total` of a filtered list is a minimum unless this is true.',
    ),
    ...(search && {
      search: described(
        optional(verbatim(200, 0)),
        'Found anywhere in the text; case and diacritics do not matter.',
      ),
    }),
    ...Object.fromEntries(
      Object.entries(filters).map(([name, { field }]) => [name, optional(field)]),
    ),
  });
  return query as Shape as Shape & Field<ListQuery<Sort, F>>;
};
