import { named, optional, shape, text, uuid, verbatim } from '@tessera/fields';

export const Accepted = named(
  'AcceptedInvitation',
  shape({
    tenant: named('JoinedTenant', shape({ id: uuid(), slug: text(63), name: text(200) })),
  }),
);

export const AcceptInvitation = named(
  'AcceptInvitation',
  shape({
    token: verbatim(200, 0),
    first_name: optional(text(200)),
    last_name: optional(text(200)),
    password: optional(verbatim(1000, 0)),
    password_confirmation: optional(verbatim(1000, 0)),
  }),
);
