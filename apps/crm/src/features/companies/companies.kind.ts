import {
  clearable,
  domain,
  email,
  list,
  named,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';
import { equalTo, timeFilters, timeSort } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import { identified } from '../../records/parts.ts';
import type { RecordsOf } from '../../records/records.ts';
import { AddressPart, AddressPartInput, addressParts } from '../addresses.schema.ts';
import { taggedWith } from '../tags/tag-filter.ts';
import { tagLimit } from '../tags/tag-limit.ts';
import { searchedTags } from '../tags/tag-search.ts';
import { tag, tags } from '../tags.schema.ts';
import { domainFilter } from './domain-filter.ts';
import { taxNumberFilter } from './tax-number-filter.ts';

const CompanyInput = named(
  'CompanyInput',
  shape({
    name: text(200),
    domain: clearable(domain()),
    tax_number: clearable(text(50)),
    email: clearable(email()),
    phone: clearable(text(50)),
    industry: clearable(text(100)),
    owner_id: clearable(uuid()),
    notes: clearable(text(10_000)),
    tags,
    addresses: withDefault(list(AddressPartInput, addressParts), []),
  }),
);

export const company = declareKind({
  table: 'companies',
  name: 'company',
  permissions: 'companies',
  create: CompanyInput,
  answer: answerOf('Company', CompanyInput, { addresses: list(AddressPart, addressParts) }),
  sort: { name: 'sort_name', domain: 'domain', industry: 'industry', ...timeSort },
  defaultSort: '-created_at',
  constraints: tagLimit('companies'),
  filters: {
    domain: domainFilter,
    tax_number: taxNumberFilter,
    ...equalTo(CompanyInput, 'email', 'industry', 'owner_id'),
    tag: taggedWith('companies', tag),
    ...timeFilters,
  },
  search: true,
  alsoSearched: searchedTags('companies'),
  stored: ({ addresses }) => (addresses ? { addresses: identified('addresses', addresses) } : {}),
});

export type Companies = RecordsOf<typeof company>;
