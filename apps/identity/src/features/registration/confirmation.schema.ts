import {
  bool,
  described,
  email,
  named,
  nullable,
  oneOf,
  optional,
  rawText,
  shape,
  text,
} from '@tessera/fields';

export const ConfirmAddress = named(
  'ConfirmAddress',
  shape({
    token: rawText(200, 0),
    password: described(optional(rawText(1000, 0)), 'Required if `asks` is `password`'),
    password_confirmation: optional(rawText(1000, 0)),
    first_name: optional(text(200)),
    last_name: optional(text(200)),
    tenant_name: optional(text(200)),
  }),
);

export const Requirements = named(
  'AddressConfirmation',
  shape({
    email: email(),
    is_confirmed: bool(),
    asks: described(
      oneOf('nothing', 'password'),
      '`password` if a new password is required because another browser registered the account',
    ),
    first_name: described(
      text(200),
      'As registered; somebody else may have registered the account',
    ),
    last_name: text(200),
    tenant_name: described(nullable(text(200)), 'Name of the tenant that will be created'),
  }),
);
