import {
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

const label = text(50);
const line = withDefault(nullable(text(200)), null);

export const Address = named(
  'Address',
  shape({
    label,
    line1: line,
    line2: line,
    postal_code: line,
    city: line,
    region: line,
    country: line,
  }),
);
export const Email = named('LabelledEmail', shape({ label, email: email() }));
export const Phone = named('LabelledPhone', shape({ label, phone: text(50) }));

export const tag = text(50);
export const Tags = list(tag, { max: 50, unique: true });

const lists = {
  emails: list(Email, { max: 20 }),
  phones: list(Phone, { max: 20 }),
  addresses: list(Address, { max: 20 }),
};
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
    company_id: optional(nullable(uuid())),
    owner_id: optional(nullable(uuid())),
    notes: optionalText(10_000),
    tags: withDefault(Tags, []),
    emails: withDefault(lists.emails, []),
    phones: withDefault(lists.phones, []),
    addresses: withDefault(lists.addresses, []),
  }),
);

/** What is told of a contact. */
export const Contact = named(
  'Contact',
  shape({
    id: uuid(),
    first_name: text(100),
    last_name: nullable(text(100)),
    email: nullable(email()),
    phone: nullable(text(50)),
    title: nullable(text(100)),
    company_id: nullable(uuid()),
    owner_id: nullable(uuid()),
    notes: nullable(text(10_000)),
    tags: Tags,
    ...lists,
    created_at: time(),
    updated_at: time(),
  }),
);
