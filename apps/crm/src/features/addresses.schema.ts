import { complete, named, nullable, shape, text, withDefault } from '@tessera/fields';

const line = withDefault(nullable(text(200)), null);

/** A postal address, with a label that says which one it is. */
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
