import {
  bool,
  described,
  email,
  int,
  named,
  oneOf,
  shape,
  text,
  uuid,
  verbatim,
  withDefault,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { userOf } from '../../access.ts';
import { done, route, success } from '../../http.ts';
import { originOf } from '../../origin.ts';
import { sessionCookie } from '../../session-cookie.ts';
import type { Account } from './sign-in.repository.ts';
import type { SignInService } from './sign-in.service.ts';

const Login = named(
  'Login',
  shape({
    email: email(),
    password: verbatim(1000),
    remember: described(withDefault(bool(), false), 'Stay signed in when the browser is closed'),
  }),
);

const seconds = int(0, Number.MAX_SAFE_INTEGER);

const LoggedIn = named(
  'LoggedIn',
  shape({
    token: described(verbatim(8192), 'The bearer token'),
    expires_in: described(seconds, 'Seconds that the token lives'),
    refresh_expires_in: described(seconds, 'Seconds that the sign-in lives'),
    user: named(
      'LoggedInUser',
      shape({
        id: uuid(),
        email: text(254),
        name: text(401),
        first_name: text(200),
        last_name: text(200),
      }),
    ),
    requires_2fa: oneOf(false),
    requires_pin: oneOf(false),
  }),
);

const presentUser = ({ id, email, firstName, lastName }: Account) => ({
  id,
  email: email ?? '',
  name: `${firstName} ${lastName}`.trim(),
  first_name: firstName,
  last_name: lastName,
});

export const signInRoutes = (
  signIn: SignInService,
  config: { readonly isLocal: boolean },
): RouteTable => {
  const cookie = sessionCookie(config);
  return {
    login: route({
      method: 'post',
      path: '/api/auth/login',
      permission: 'public',
      limit: 'login',
      summary: 'Sign in with e-mail address and password',
      description: 'Gives a bearer token, and a cookie for the web session.',
      body: Login,
      responses: { 200: success(LoggedIn) },
      problems: { 401: 'The e-mail address or the password is wrong' },
      async handler({ body, req, res, reply }) {
        const signedIn = await signIn.signIn(body, originOf(req));
        const { account, token, expiresIn, sessionExpiresIn, sessionSecret } = signedIn;
        res.cookie(cookie.name, sessionSecret, {
          ...cookie.options,
          ...(body.remember && { maxAge: sessionExpiresIn * 1000 }),
        });
        return reply(200, {
          success: true,
          data: {
            token,
            expires_in: expiresIn,
            refresh_expires_in: sessionExpiresIn,
            user: presentUser(account),
            requires_2fa: false,
            requires_pin: false,
          },
        });
      },
    }),
    logout: route({
      method: 'post',
      path: '/api/auth/logout',
      permission: 'authenticated',
      admits: ['pin_required', 'password_change_required'],
      summary: 'End the session with all its tokens',
      responses: { 200: done },
      async handler({ caller, req, res, reply }) {
        await signIn.signOut(userOf(caller), originOf(req));
        res.clearCookie(cookie.name, cookie.options);
        return reply(200, { success: true, message: 'Signed out.' });
      },
    }),
  };
};
