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

/** A postal address; `label` distinguishes it from the record's other addresses. */
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

/** An address with the id under which it can be changed. */
export const AddressPart = named('CompanyAddress', shape({ id: uuid(), ...Address.fields }));

export const AddressPartInput = named(
  'CompanyAddressInput',
  shape({
    id: described(optional(uuid()), 'The id of an existing address; a new address gets one.'),
    ...AddressInput.fields,
  }),
);

/** Addresses that records hold in their field `addresses`. */
export const addressParts = {
  field: 'addresses',
  name: 'address',
  input: AddressInput,
  answer: AddressPart,
  max: 50,
} as const;
