import {
  bool,
  described,
  type Field,
  int,
  named,
  type Out,
  oneOf,
  optional,
  rawText,
  type Shape,
  shape,
  withDefault,
} from '@tessera/fields';
import { exportFormat } from '@tessera/http-kit';
import { pageFields } from '../../records/list-query.ts';
import { tag } from '../tags.schema.ts';
import type { TagFamily, TaggedTable } from './tag-families.ts';

const count = int(0, Number.MAX_SAFE_INTEGER);

/** `contacts_count` and so on. */
type Counts<T extends TaggedTable> = { readonly [K in `${T}_count`]: number };

export type TagPayload<T extends TaggedTable = TaggedTable> = Counts<T> & {
  readonly name: string;
  /** Of all tables. */
  readonly count: number;
};

export type TagChangePayload<T extends TaggedTable = TaggedTable> = Counts<T> & {
  readonly is_complete: boolean;
};

type CountFields<T extends TaggedTable> = { readonly [K in `${T}_count`]: Field<number> };

const countFields = <T extends TaggedTable>({ tables }: TagFamily<T>, field: Field) =>
  Object.fromEntries(tables.map((table) => [`${table}_count`, field])) as CountFields<T>;

/** The schemas of a family of tags. */
export const tagShapes = <T extends TaggedTable>(family: TagFamily<T>) => {
  const { schema, records } = family;
  const Tag = named(
    schema,
    shape({
      name: tag,
      count: described(count, `The number of ${records} with the tag.`),
      ...countFields(family, count),
    }),
  );
  const TagChange = named(
    `${schema}Change`,
    shape({
      ...countFields(family, described(count, 'How many of them this request changed.')),
      is_complete: described(
        bool(),
        'False if there are more records than one request changes: send the same request again.',
      ),
    }),
  );
  return {
    Tag: Tag as Shape as Shape & Field<TagPayload<T>, false>,
    TagChange: TagChange as Shape as Shape & Field<TagChangePayload<T>, false>,
  };
};

const search = described(
  optional(rawText(200, 0)),
  'Found anywhere in the name; case and diacritics do not matter.',
);

const sort = described(
  withDefault(oneOf('name', '-name', 'count', '-count'), 'name'),
  '`-` in front: descending.',
);

export const TagQuery = shape({ ...pageFields, sort, search });

export const TagExportQuery = shape({ sort, search, format: exportFormat });
export type TagQuery = Out<typeof TagQuery>;

export const TagName = named(
  'TagName',
  shape({ name: described(tag, 'The new name, which may be that of another tag.', 'customer') }),
);
