import { email, named, nullable, rawText, shape, time } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { EmailChangeService } from './email-change.service.ts';

const EmailChange = named(
  'EmailChange',
  shape({
    email: nullable(email()),
    pending: nullable(shape({ email: email(), requested_at: time(), expires_at: time() })),
  }),
);

const RestoredAddress = named(
  'RestoredAddress',
  shape({ email: email(), password_reset_token: rawText(200) }),
);

const token = rawText(200, 0);

const mailSent = {
  success: true,
  message: 'Check your mail at the new address to confirm it.',
} as const;

const linkProblems = {
  409: 'Another account has the address',
  422: 'The link is invalid or has expired',
};

export const emailChangeRoutes = (changes: EmailChangeService): RouteTable => ({
  getEmailChange: route({
    method: 'get',
    path: '/api/profile/email',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Get your email address and the pending change',
    responses: { 200: success(EmailChange) },
    async handler({ caller, reply }) {
      const person = personOf(caller);
      const pending = await changes.pending(person);
      const data = {
        email: person.email,
        pending: pending && {
          email: pending.email,
          requested_at: pending.requestedAt,
          expires_at: pending.expiresAt,
        },
      };
      return reply(200, { success: true, data });
    },
  }),
  requestEmailChange: route({
    method: 'post',
    path: '/api/profile/email',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Request a change of your email address',
    description:
      'Needs a recent authentication. Sends a confirmation link to the new address; nothing changes until it is used. The response is the same whether or not the address belongs to an account. Replaces a pending change.',
    body: named('RequestEmailChange', shape({ email: email() })),
    responses: { 202: done },
    async handler({ caller, body, req, reply }) {
      await changes.request(personOf(caller), body.email, originOf(req));
      return reply(202, mailSent);
    },
  }),
  resendEmailChange: route({
    method: 'post',
    path: '/api/profile/email/resend',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Resend the link that confirms the new email address',
    responses: { 202: done },
    problems: { 409: 'No change of the address is pending' },
    async handler({ caller, reply }) {
      await changes.resend(personOf(caller));
      return reply(202, mailSent);
    },
  }),
  cancelEmailChange: route({
    method: 'delete',
    path: '/api/profile/email',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Cancel the pending change of your email address',
    responses: { 200: done },
    async handler({ caller, req, reply }) {
      await changes.cancel(personOf(caller), originOf(req));
      return reply(200, {
        success: true,
        message: 'The change of the email address is cancelled.',
      });
    },
  }),
  confirmEmailChange: route({
    method: 'post',
    path: '/api/auth/email/change',
    permission: 'public',
    limit: 'public',
    summary: 'Confirm the new email address',
    description:
      'Takes the token of the mail. Links mailed to the old address stop working; sessions continue. The old address gets a mail with a link that undoes the change.',
    body: named('ConfirmEmailChange', shape({ token })),
    responses: { 200: done },
    problems: linkProblems,
    async handler({ body, req, reply }) {
      await changes.confirm(body.token, originOf(req));
      return reply(200, { success: true, message: 'The email address has been changed.' });
    },
  }),
  undoEmailChange: route({
    method: 'post',
    path: '/api/auth/email/undo',
    permission: 'public',
    limit: 'public',
    summary: 'Undo a change of the email address',
    description:
      'Takes the token of the mail sent to the old address. Restores that address, ends all sessions, trust in devices and the password, and removes a second factor, recovery codes and a PIN set up since the change was requested. The response contains a token for `POST /api/auth/password/reset`.',
    body: named('UndoEmailChange', shape({ token })),
    responses: { 200: success(RestoredAddress) },
    problems: linkProblems,
    async handler({ body, req, reply }) {
      const restored = await changes.undo(body.token, originOf(req));
      const data = { email: restored.email, password_reset_token: restored.token };
      return reply(200, { success: true, data });
    },
  }),
});
