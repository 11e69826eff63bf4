import {
  complete,
  email,
  list,
  named,
  nullable,
  optional,
  reference,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { Address, AddressInput } from '../addresses.schema.ts';

const label = text(50);
const Email = named('LabelledEmail', shape({ label, email: email() }));
const Phone = named('LabelledPhone', shape({ label, phone: text(50) }));

export const tag = text(50);
export const Tags = list(tag, { max: 50, unique: true });

const few = { max: 20 };
const optionalText = (max: number) => optional(nullable(text(max)));

/** What creating a contact takes. */
export const ContactInput = named(
  'ContactInput',
  shape({
    first_name: text(100),
    last_name: optionalText(100),
    email: optional(nullable(email())),
    phone: optionalText(50),
    title: optionalText(100),
    company_id: optional(nullable(reference('companies'))),
    owner_id: optional(nullable(uuid())),
    notes: optionalText(10_000),
    tags: withDefault(Tags, []),
    emails: withDefault(list(Email, few), []),
    phones: withDefault(list(Phone, few), []),
    addresses: withDefault(list(AddressInput, few), []),
  }),
);

/** What is told of a contact. */
export const Contact = named(
  'Contact',
  shape({
    id: uuid(),
    ...complete(ContactInput).fields,
    addresses: list(Address, few),
    created_at: time(),
    updated_at: time(),
  }),
);
