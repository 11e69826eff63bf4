import type { RouteTable } from '@tessera/http-kit';
import { userOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { signInCookies } from './sign-in.cookies.ts';
import { LoggedIn, Login, presentSignedIn, presentSuspended } from './sign-in.schema.ts';
import type { SignInService } from './sign-in.service.ts';

export const signInRoutes = (
  signIn: SignInService,
  config: { readonly isLocal: boolean },
): RouteTable => {
  const cookies = signInCookies(config);
  return {
    login: route({
      method: 'post',
      path: '/api/auth/login',
      permission: 'public',
      limit: 'login',
      summary: 'Sign in with email address and password',
      description:
        'Returns a bearer token and sets the cookie of the web session. With `requires_2fa`, there is no session yet; use the token for `POST /api/auth/2fa/verify`. A user has at most 1000 open sessions; one more ends the least recently used one.',
      body: Login,
      responses: { 200: success(LoggedIn) },
      problems: { 401: 'The email address or the password is wrong' },
      async handler({ body, req, res, reply }) {
        const result = await signIn.signIn(body, cookies.clientOf(req));
        if ('pendingToken' in result) {
          return reply(200, { success: true, data: presentSuspended(result) });
        }
        cookies.set(res, result);
        const data = { ...presentSignedIn(result), requires_2fa: false };
        return reply(200, { success: true, data });
      },
    }),
    logout: route({
      method: 'post',
      path: '/api/auth/logout',
      permission: 'authenticated',
      credential: 'ending',
      allowRestrictions: [
        'pin_required',
        'email_verification_required',
        'password_change_required',
        'impersonation',
        'any_scope',
      ],
      limit: 'signOut',
      summary: 'Sign out',
      description:
        'Ends the session of the token, which may have expired. With a token of a tenant’s or a third-party application, only the tokens of that authorization are revoked, and with an impersonation token or an API key only that token.',
      responses: { 200: done },
      async handler({ caller, req, res, reply }) {
        const user = userOf(caller);
        await signIn.signOut(user, originOf(req));
        // The session continues after an impersonation, or the sign-out of a tenant's or a third-party client.
        const hasEnded = user.impersonatorId === null && user.clientKind === 'first_party';
        if (hasEnded) cookies.clearSession(res);
        return reply(200, { success: true, message: 'You are signed out.' });
      },
    }),
  };
};
