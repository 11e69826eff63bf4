import {
  bool,
  described,
  int,
  named,
  type Out,
  oneOf,
  optional,
  rawText,
  shape,
  withDefault,
} from '@tessera/fields';
import { exportFormat } from '@tessera/http-kit';
import { pageFields } from '../../records/list-query.ts';
import { tag } from '../tags.schema.ts';

const count = int(0, Number.MAX_SAFE_INTEGER);

export const Tag = named(
  'Tag',
  shape({
    name: tag,
    count: described(count, 'The number of contacts and companies with the tag.'),
    contacts_count: count,
    companies_count: count,
  }),
);
export type TagPayload = Out<typeof Tag>;

const search = described(
  optional(rawText(200, 0)),
  'Found anywhere in the name; case and diacritics do not matter.',
);

export const TagQuery = shape({
  ...pageFields,
  sort: described(
    withDefault(oneOf('name', '-name', 'count', '-count'), 'name'),
    '`-` in front: descending.',
  ),
  search,
});

export const TagExportQuery = shape({ search, format: exportFormat });
export type TagQuery = Out<typeof TagQuery>;

export const TagName = named(
  'TagName',
  shape({ name: described(tag, 'The new name, which may be that of another tag.', 'customer') }),
);

export const TagChange = named(
  'TagChange',
  shape({
    contacts_count: described(count, 'The number of contacts that this request changed.'),
    companies_count: described(count, 'The number of companies that this request changed.'),
    is_complete: described(
      bool(),
      'False if there are more records than one request changes: send the same request again.',
    ),
  }),
);
export type TagChangePayload = Out<typeof TagChange>;
