import {
  bool,
  described,
  email,
  int,
  named,
  nullable,
  type Out,
  optional,
  rawText,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';
import type { Account, SignedIn, SuspendedSignIn } from './sign-in.service.ts';

export const Login = named(
  'Login',
  shape({
    email: email(),
    password: rawText(1000),
    remember: described(withDefault(bool(), false), 'Stay signed in after the browser is closed'),
  }),
);

const seconds = int(0, Number.MAX_SAFE_INTEGER);

const user = named(
  'LoggedInUser',
  shape({
    id: uuid(),
    email: nullable(text(254)),
    name: text(401),
    first_name: text(200),
    last_name: text(200),
  }),
);

/** Fields of the response to a completed sign-in. */
export const signedIn = {
  token: described(rawText(8192), 'Bearer token'),
  expires_in: described(seconds, 'Lifetime of the token in seconds'),
  refresh_expires_in: described(
    seconds,
    'Seconds until the session ends; the token can be renewed until then',
  ),
  user,
  requires_pin: described(bool(), 'True if the session is locked until the PIN is verified'),
} as const;

export const LoggedIn = named(
  'LoggedIn',
  shape({
    ...signedIn,
    refresh_expires_in: optional(signedIn.refresh_expires_in),
    user: optional(user),
    requires_2fa: described(
      bool(),
      'True if the token can only be used for the second factor; `user` is absent then',
    ),
  }),
);

const presentUser = ({ id, email, firstName, lastName }: Account) => ({
  id,
  email,
  name: `${firstName} ${lastName}`.trim(),
  first_name: firstName,
  last_name: lastName,
});

export const presentSignedIn = (result: SignedIn) => ({
  token: result.token,
  expires_in: result.expiresIn,
  refresh_expires_in: result.sessionExpiresIn,
  user: presentUser(result.account),
  requires_pin: result.requiresPin,
});

export const presentSuspended = ({
  pendingToken,
  expiresIn,
}: SuspendedSignIn): Out<typeof LoggedIn> => ({
  token: pendingToken,
  expires_in: expiresIn,
  requires_2fa: true,
  requires_pin: false,
});
