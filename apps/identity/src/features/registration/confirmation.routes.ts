import { named, rawText, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import type { Request } from 'express';
import { type Caller, done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { ConfirmAddress, Requirements } from './confirmation.schema.ts';
import type { ConfirmationService, LinkOpener } from './confirmation.service.ts';
import { confirmationCookie } from './confirmation-cookie.ts';

interface Dependencies {
  readonly confirmation: ConfirmationService;
  readonly isLocal: boolean;
  authenticate(req: Request): Promise<Caller>;
}

/** The caller, if their sign-in shows that they registered the account. */
const registrantOf = (caller: Caller): UserCaller | null => {
  if (caller.type !== 'user' || caller.clientKind !== 'first_party') return null;
  const { restriction } = caller;
  return restriction === null || restriction === 'email_verification_required' ? caller : null;
};

const problems = {
  422: 'The link is invalid or has expired, or the password is missing or not acceptable',
};

const OUTCOMES = {
  deleted: 'The account has been deleted.',
  signed_out:
    'The account belongs to a member of a tenant. It has been signed out everywhere and must confirm another address.',
} as const;

export const confirmationRoutes = (dependencies: Dependencies): RouteTable => {
  const { confirmation } = dependencies;
  const cookie = confirmationCookie(dependencies);
  const openerOf = async (req: Request): Promise<LinkOpener> => ({
    secret: cookie.secretOf(req),
    caller: req.headers.authorization ? registrantOf(await dependencies.authenticate(req)) : null,
  });
  return {
    getAddressConfirmation: route({
      method: 'get',
      path: '/api/auth/email/verify',
      permission: 'public',
      optionalCredentials: ['bearer', 'confirmation'],
      limit: 'public',
      summary: 'Get what confirming an email address requires',
      description: 'Has no side effects: mail scanners open links before the recipient does.',
      query: shape({ token: rawText(200) }),
      responses: { 200: success(Requirements) },
      problems,
      async handler({ query, req, reply }) {
        const requirements = await confirmation.show(query.token, await openerOf(req));
        const data = {
          email: requirements.email,
          is_confirmed: requirements.isConfirmed,
          asks: requirements.asks,
          first_name: requirements.firstName,
          last_name: requirements.lastName,
          tenant_name: requirements.tenantName,
        };
        return reply(200, { success: true, data });
      },
    }),
    verifyEmail: route({
      method: 'post',
      path: '/api/auth/email/verify',
      permission: 'public',
      optionalCredentials: ['bearer', 'confirmation'],
      limit: 'public',
      summary: 'Confirm an email address',
      description:
        'Takes the token of the mail. With the cookie of the browser that registered, or a bearer token of the account, only the address is confirmed. Otherwise `password` is required: it replaces the registered password, and all sessions, devices and factors of the account are removed. Afterwards the tenant requested at registration is created.',
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
        return reply(200, { success: true, message: 'The email address has been confirmed.' });
      },
    }),
    disownEmail: route({
      method: 'post',
      path: '/api/auth/email/disown',
      permission: 'public',
      limit: 'public',
      summary: 'Delete an account that somebody else registered with your address',
      description:
        'Takes the token of the mail, as long as the address is not confirmed. The account of a tenant member is not deleted, but signed out everywhere; it must confirm another address.',
      body: named('DisownAddress', shape({ token: rawText(200, 0) })),
      responses: { 200: done },
      problems: { 422: 'The link is invalid or has expired' },
      async handler({ body, req, reply }) {
        const outcome = await confirmation.disown(body.token, originOf(req));
        return reply(200, { success: true, message: OUTCOMES[outcome] });
      },
    }),
  };
};
