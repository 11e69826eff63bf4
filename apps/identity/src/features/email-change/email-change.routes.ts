import { email, named, nullable, shape, time, verbatim } from '@tessera/fields';
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
  shape({ email: email(), password_reset_token: verbatim(200) }),
);

const token = verbatim(200, 0);

const onItsWay = {
  success: true,
  message: 'Check the mail at the new address to confirm it.',
} as const;

const linkProblems = {
  409: 'Another account has the address',
  422: 'The link is invalid or has expired',
};

export const emailChangeRoutes = (changes: EmailChangeService): RouteTable => ({
  showEmailChange: route({
    method: 'get',
    path: '/api/profile/email',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'One’s own email address, and the one that waits for its confirmation',
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
    summary: 'Ask for another email address',
    description:
      'Needs a recent authentication. Sends a link to the new address, which confirms it; until then nothing changes. The answer is the same whether or not the address has an account. A change that waits is replaced.',
    body: named('RequestEmailChange', shape({ email: email() })),
    responses: { 202: done },
    async handler({ caller, body, req, reply }) {
      await changes.request(personOf(caller), body.email, originOf(req));
      return reply(202, onItsWay);
    },
  }),
  resendEmailChange: route({
    method: 'post',
    path: '/api/profile/email/resend',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Send another link to the new email address',
    responses: { 202: done },
    problems: { 409: 'No change of the address is pending' },
    async handler({ caller, reply }) {
      await changes.resend(personOf(caller));
      return reply(202, onItsWay);
    },
  }),
  cancelEmailChange: route({
    method: 'delete',
    path: '/api/profile/email',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Give up the change of the email address that waits for its confirmation',
    responses: { 200: done },
    async handler({ caller, req, reply }) {
      await changes.cancel(personOf(caller), originOf(req));
      return reply(200, { success: true, message: 'The email address stays as it is.' });
    },
  }),
  confirmEmailChange: route({
    method: 'post',
    path: '/api/auth/email/change',
    permission: 'public',
    limit: 'public',
    summary: 'Confirm the new email address, with the token of the mail',
    description:
      'Links that were mailed to the old address end; sessions go on. The old address gets a mail with a link that undoes the change.',
    body: named('ConfirmEmailChange', shape({ token })),
    responses: { 200: done },
    problems: linkProblems,
    async handler({ body, req, reply }) {
      await changes.confirm(body.token, originOf(req));
      return reply(200, { success: true, message: 'The email address is changed.' });
    },
  }),
  undoEmailChange: route({
    method: 'post',
    path: '/api/auth/email/undo',
    permission: 'public',
    limit: 'public',
    summary: 'Undo a change of the email address, with the token of the mail to the old one',
    description:
      'Restores the old address, ends every session, the trust in devices and the password, and removes a second factor or PIN that was set up since the change. The answer holds a token for `POST /api/auth/password/reset`.',
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
