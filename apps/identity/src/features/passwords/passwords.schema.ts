import { email, named, rawText, shape } from '@tessera/fields';

const password = rawText(1000, 0);

export const ChangePassword = named(
  'ChangePassword',
  shape({
    current_password: password,
    new_password: password,
    new_password_confirmation: password,
  }),
);

export const ForgotPassword = named('ForgotPassword', shape({ email: email() }));

export const ResetPassword = named(
  'ResetPassword',
  shape({
    token: rawText(200, 0),
    email: email(),
    password,
    password_confirmation: password,
  }),
);
