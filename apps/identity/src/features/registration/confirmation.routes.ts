import {
  bool,
  described,
  email,
  named,
  nullable,
  oneOf,
  optional,
  shape,
  text,
  verbatim,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import type { Request } from 'express';
import { type Caller, done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { ConfirmationService, Opener } from './confirmation.service.ts';
import { confirmationCookie } from './confirmation-cookie.ts';

export const ConfirmAddress = named(
  'ConfirmAddress',
  shape({
    token: verbatim(200, 0),
    password: described(optional(verbatim(1000, 0)), 'Required where `asks` is `password`'),
    password_confirmation: optional(verbatim(1000, 0)),
    first_name: optional(text(200)),
    last_name: optional(text(200)),
    tenant_name: optional(text(200)),
  }),
);

const Question = named(
  'AddressConfirmation',
  shape({
    email: email(),
    is_confirmed: bool(),
    asks: described(
      oneOf('nothing', 'password'),
      '`password`: this is not the browser that registered, so that a new password has to be chosen',
    ),
    first_name: described(text(200), 'As registered, perhaps by somebody else'),
    last_name: text(200),
    tenant_name: described(nullable(text(200)), 'Of the tenant that is created then'),
  }),
);

interface Dependencies {
  readonly confirmation: ConfirmationService;
  readonly isLocal: boolean;
  authenticate(req: Request): Promise<Caller>;
}

/** Who shows by a sign-in that they are the one who registered. */
const signedIn = (caller: Caller): UserCaller | null => {
  if (caller.type !== 'user' || caller.clientKind !== 'first_party') return null;
  const { restriction } = caller;
  return restriction === null || restriction === 'email_verification_required' ? caller : null;
};

const problems = { 422: 'The link is invalid or has expired, or a password is missing or refused' };

const OUTCOMES = {
  deleted: 'The account is deleted.',
  signed_out:
    'The account belongs to a member of a tenant. It is signed out everywhere, and has to confirm another address.',
} as const;

export const confirmationRoutes = (use: Dependencies): RouteTable => {
  const { confirmation } = use;
  const cookie = confirmationCookie(use);
  const openerOf = async (req: Request): Promise<Opener> => ({
    secret: cookie.secretOf(req),
    caller: req.headers.authorization ? signedIn(await use.authenticate(req)) : null,
  });
  return {
    getAddressConfirmation: route({
      method: 'get',
      path: '/api/auth/email/verify',
      permission: 'public',
      limit: 'public',
      summary: 'Show what the link that confirms an email address asks for',
      description: 'Changes nothing: programs open the links of mails before their reader does.',
      query: shape({ token: verbatim(200) }),
      responses: { 200: success(Question) },
      problems,
      async handler({ query, req, reply }) {
        const question = await confirmation.show(query.token, await openerOf(req));
        const data = {
          email: question.email,
          is_confirmed: question.isConfirmed,
          asks: question.asks,
          first_name: question.firstName,
          last_name: question.lastName,
          tenant_name: question.tenantName,
        };
        return reply(200, { success: true, data });
      },
    }),
    verifyEmail: route({
      method: 'post',
      path: '/api/auth/email/verify',
      permission: 'public',
      limit: 'public',
      summary: 'Confirm an email address, with the token of the mail',
      description:
        'With the cookie of the browser that registered, or the token of a sign-in to the account, the address is confirmed and nothing else changes. Otherwise `password` is required: it replaces the one that was registered, and every session, device and factor of the account ends. Who registered gets their tenant.',
      body: ConfirmAddress,
      responses: { 200: done },
      problems: { ...problems, 409: 'The account was changed at the same time' },
      async handler({ body, req, reply }) {
        const given = {
          password: body.password,
          confirmation: body.password_confirmation,
          firstName: body.first_name,
          lastName: body.last_name,
          tenantName: body.tenant_name,
        };
        await confirmation.confirm(body.token, await openerOf(req), given, originOf(req));
        return reply(200, { success: true, message: 'The email address is confirmed.' });
      },
    }),
    disownEmail: route({
      method: 'post',
      path: '/api/auth/email/disown',
      permission: 'public',
      limit: 'public',
      summary: 'Delete an account that somebody else registered with the address',
      description:
        'Takes the token of the mail, for as long as the address is not confirmed. The account of a member of a tenant is not deleted: it is signed out everywhere, and has to confirm another address.',
      body: named('DisownAddress', shape({ token: verbatim(200, 0) })),
      responses: { 200: done },
      problems: { 422: 'The link is invalid or has expired' },
      async handler({ body, req, reply }) {
        const outcome = await confirmation.disown(body.token, originOf(req));
        return reply(200, { success: true, message: OUTCOMES[outcome] });
      },
    }),
  };
};
