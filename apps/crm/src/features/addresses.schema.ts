import {
  complete,
  described,
  named,
  nullable,
  optional,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';

const line = withDefault(nullable(text(200)), null);

/** A postal address; the label says which one it is. */
export const AddressInput = named(
  'AddressInput',
  shape({
    label: text(50),
    line1: line,
    line2: line,
    postal_code: line,
    city: line,
    region: line,
    country: line,
  }),
);

export const Address = named('Address', complete(AddressInput));

/** An address that can be changed by its id. */
export const AddressPart = named('CompanyAddress', shape({ id: uuid(), ...Address.fields }));

export const AddressPartInput = named(
  'CompanyAddressInput',
  shape({
    id: described(optional(uuid()), 'The id of an address that stays; a new address gets one.'),
    ...AddressInput.fields,
  }),
);

/** A list of addresses that records hold in their field `addresses`. */
export const addressParts = {
  field: 'addresses',
  name: 'address',
  input: AddressInput,
  answer: AddressPart,
  max: 50,
} as const;
