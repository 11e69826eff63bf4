import {
  complete,
  described,
  domain,
  email,
  list,
  named,
  nullable,
  optional,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { Address, AddressInput } from '../addresses.schema.ts';

export const MAX_ADDRESSES = 50;
const upTo = { max: MAX_ADDRESSES };

export const CompanyAddress = named('CompanyAddress', shape({ id: uuid(), ...Address.fields }));

const CompanyAddressInput = named(
  'CompanyAddressInput',
  shape({
    id: described(optional(uuid()), 'That of an address that stays; a new address gets one.'),
    ...AddressInput.fields,
  }),
);

export const industry = text(100);
export const taxNumber = text(50);
const optionalText = (max: number) => optional(nullable(text(max)));

/** What creating a company takes. */
export const CompanyInput = named(
  'CompanyInput',
  shape({
    name: text(200),
    domain: optional(nullable(domain())),
    tax_number: optional(nullable(taxNumber)),
    email: optional(nullable(email())),
    phone: optionalText(50),
    industry: optional(nullable(industry)),
    owner_id: optional(nullable(uuid())),
    notes: optionalText(10_000),
    addresses: withDefault(list(CompanyAddressInput, upTo), []),
  }),
);

/** What is told of a company. */
export const Company = named(
  'Company',
  shape({
    id: uuid(),
    ...complete(CompanyInput).fields,
    addresses: list(CompanyAddress, upTo),
    created_at: time(),
    updated_at: time(),
  }),
);
