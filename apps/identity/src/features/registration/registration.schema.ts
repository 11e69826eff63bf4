import { described, email, named, optional, rawText, shape, text } from '@tessera/fields';

const password = rawText(1000, 0);

export const Register = named(
  'Register',
  shape({
    first_name: text(200),
    last_name: text(200),
    email: email(),
    password: described(optional(password), 'Required without a token, rejected with one'),
    password_confirmation: described(
      optional(password),
      'Required without a token, rejected with one',
    ),
    role: described(
      optional(text(100)),
      'With a token: the role of the member, by default `member`',
    ),
    tenant_name: described(
      optional(text(200)),
      'Required without a token: name of the tenant to create when the address is confirmed',
    ),
  }),
);
