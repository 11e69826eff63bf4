import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { ChangePassword, ForgotPassword, ResetPassword } from './passwords.schema.ts';
import type { PasswordsService } from './passwords.service.ts';

/** The password change, available at two paths. */
const passwordChange = (passwords: PasswordsService, method: 'post' | 'put', path: string) =>
  route({
    method,
    path,
    permission: 'authenticated',
    clients: 'first_party',
    allowRestrictions: ['password_change_required'],
    limit: 'password',
    summary: 'Change your password',
    description:
      'Ends all other sessions and trust in devices. The session of the token continues.',
    body: ChangePassword,
    responses: { 200: done },
    problems: { 409: 'The password was changed at the same time' },
    async handler({ caller, body, req, reply }) {
      const given = {
        current: body.current_password,
        password: body.new_password,
        confirmation: body.new_password_confirmation,
      };
      await passwords.change(personOf(caller), given, originOf(req));
      return reply(200, { success: true, message: 'The password has been changed.' });
    },
  });

export const passwordRoutes = (passwords: PasswordsService): RouteTable => ({
  forgotPassword: route({
    method: 'post',
    path: '/api/auth/password/forgot',
    permission: 'public',
    limit: 'passwordForgot',
    summary: 'Request a password reset',
    description:
      'Mails a link to choose a new password. The response is the same whether or not an account with the address exists.',
    body: ForgotPassword,
    responses: { 200: done },
    handler({ body, req, reply }) {
      passwords.forgot(body.email, originOf(req));
      const message = 'If an account with this address exists, a mail with a link is on its way.';
      return reply(200, { success: true, message });
    },
  }),
  resetPassword: route({
    method: 'post',
    path: '/api/auth/password/reset',
    permission: 'public',
    limit: 'public',
    summary: 'Reset the password',
    description:
      'Takes the token of the mail. Ends all sessions and revokes all tokens of the account.',
    body: ResetPassword,
    responses: { 200: done },
    problems: { 409: 'The password was changed at the same time' },
    async handler({ body, req, reply }) {
      const { password_confirmation: confirmation, ...given } = body;
      await passwords.reset({ ...given, confirmation }, originOf(req));
      return reply(200, {
        success: true,
        message: 'The password has been changed. You can now sign in.',
      });
    },
  }),
  changePassword: passwordChange(passwords, 'post', '/api/auth/password/change'),
  updateUserPassword: passwordChange(passwords, 'put', '/api/user/password'),
});
