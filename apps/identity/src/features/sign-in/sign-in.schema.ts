import {
  bool,
  described,
  email,
  int,
  named,
  nullable,
  type Out,
  optional,
  shape,
  text,
  uuid,
  verbatim,
  withDefault,
} from '@tessera/fields';
import type { Account, SignedIn, SuspendedSignIn } from './sign-in.service.ts';

export const Login = named(
  'Login',
  shape({
    email: email(),
    password: verbatim(1000),
    remember: described(withDefault(bool(), false), 'Stay signed in when the browser is closed'),
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

/** What every sign-in that is done answers. */
export const signedIn = {
  token: described(verbatim(8192), 'The bearer token'),
  expires_in: described(seconds, 'Seconds that the token lives'),
  refresh_expires_in: described(seconds, 'Seconds that the sign-in lives'),
  user,
  requires_pin: described(bool(), 'Nothing else is served until the PIN is verified'),
} as const;

export const LoggedIn = named(
  'LoggedIn',
  shape({
    ...signedIn,
    refresh_expires_in: optional(signedIn.refresh_expires_in),
    user: optional(user),
    requires_2fa: described(
      bool(),
      'The token is good for the second factor only, and there is no `user` yet',
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

export const presentSignedIn = (done: SignedIn) => ({
  token: done.token,
  expires_in: done.expiresIn,
  refresh_expires_in: done.sessionExpiresIn,
  user: presentUser(done.account),
  requires_pin: done.requiresPin,
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
