import { named, optional, rawText, shape, text, uuid } from '@tessera/fields';

export const Accepted = named(
  'AcceptedInvitation',
  shape({
    tenant: named('JoinedTenant', shape({ id: uuid(), slug: text(63), name: text(200) })),
  }),
);

export const AcceptInvitation = named(
  'AcceptInvitation',
  shape({
    token: rawText(200, 0),
    first_name: optional(text(200)),
    last_name: optional(text(200)),
    password: optional(rawText(1000, 0)),
    password_confirmation: optional(rawText(1000, 0)),
  }),
);
