import {
  described,
  int,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { pageFields } from '../../records/list-query.ts';

const field = oneOf('domain', 'tax_number');

/** How many companies of a group an answer shows. */
export const SHOWN = 20;

const DuplicateCompany = named(
  'DuplicateCompany',
  shape({
    id: uuid(),
    name: text(200),
    domain: nullable(text(253)),
    tax_number: nullable(text(50)),
    created_at: time(),
  }),
);

export const CompanyDuplicates = named(
  'CompanyDuplicates',
  shape({
    field: described(field, 'The field that is the same.'),
    value: described(
      text(253),
      'The normalized value: a domain without `www.`, a tax number of letters and digits in upper case.',
      'example.com',
    ),
    count: described(int(2, Number.MAX_SAFE_INTEGER), 'The number of companies in the group.'),
    companies: described(
      list(DuplicateCompany, { max: SHOWN }),
      `The first ${SHOWN} of them, the oldest first.`,
    ),
  }),
);
export type CompanyDuplicatesPayload = Out<typeof CompanyDuplicates>;

export const DuplicatesQuery = shape({
  ...pageFields,
  field: described(optional(field), 'Only groups by this field.'),
});
export type DuplicatesQuery = Out<typeof DuplicatesQuery>;
