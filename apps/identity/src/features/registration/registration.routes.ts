import { described, email, named, optional, shape, text, verbatim } from '@tessera/fields';
import { type RouteEntry, type RouteTable, validationFailed } from '@tessera/http-kit';
import type { Request } from 'express';
import { activeTenant, authorize, personOf } from '../../access/access.ts';
import { type Caller, done, route } from '../../http/route.ts';
import { localeOf, originOf } from '../../origin/origin.ts';
import { confirmationCookie, keepConfirmation } from './confirmation-cookie.ts';
import type { InvitationsService } from './invitations.service.ts';
import type { RegistrationService } from './registration.service.ts';

const password = verbatim(1000, 0);

export const Register = named(
  'Register',
  shape({
    first_name: text(200),
    last_name: text(200),
    email: email(),
    password: described(optional(password), 'Required without a token, and refused with one'),
    password_confirmation: described(
      optional(password),
      'Required without a token, and refused with one',
    ),
    role: described(optional(text(100)), 'With a token: of the member; `member` unless given'),
    tenant_name: described(
      optional(text(200)),
      'Required without a token: the tenant that is created when the address is confirmed',
    ),
  }),
);

export interface Dependencies {
  readonly registration: RegistrationService;
  readonly invitations: InvitationsService;
  /** Whether anybody may register themselves. */
  readonly isOpen: boolean;
  readonly isLocal: boolean;
  /** Seconds that an account waits for the confirmation of its address. */
  readonly lifetime: number;
  authenticate(req: Request): Promise<Caller>;
}

const PERMISSION = 'identity.users.create';

/** The role of who is invited without one. */
const USUAL_ROLE = 'member';

const own = ['password', 'password_confirmation', 'tenant_name'] as const;

/** 422 that names every one of the fields that is there, or is not, against the rule. */
const refuse = (fields: readonly string[], message: (field: string) => string): void => {
  if (fields.length === 0) return;
  throw validationFailed(Object.fromEntries(fields.map((field) => [field, [message(field)]])));
};

export const registrationRoutes = (use: Dependencies): RouteTable => {
  const { registration, invitations, isOpen } = use;
  const cookie = confirmationCookie(use);

  /** The caller, where the gate let everybody in; undefined for who registers themselves. */
  const callerOf = async (req: Request): Promise<Caller | undefined> => {
    if (req.headers.authorization === undefined) return undefined;
    const caller = await use.authenticate(req);
    await authorize(caller, { ...register, permission: PERMISSION }, req);
    return caller;
  };

  const register: RouteEntry = route({
    method: 'post',
    path: '/api/auth/register',
    permission: isOpen ? 'public' : PERMISSION,
    limit: isOpen ? 'public' : 'default',
    summary: 'Invite a person into the tenant, or register oneself',
    description:
      'With a token that holds `identity.users.create`: invites a person by mail into the active tenant, with a role that gives nothing that the caller lacks. They choose their own password; the names are suggested to them. Without a token, where REGISTRATION_ENABLED is set: registers the caller, who has to confirm the address before the account can be used and the tenant `tenant_name` is created. Sets the cookie `confirmation`, with which the link of the mail confirms the address. The answer is always the same, whether or not the address has an account.',
    body: Register,
    responses: { 202: done },
    problems: {
      401: 'There is no token, or it is not good; without one, nobody may register themselves here',
      403: 'The caller may not invite others',
    },
    async handler({ caller: known, body, req, res, reply }) {
      const caller = known ?? (await callerOf(req));
      const names = { firstName: body.first_name, lastName: body.last_name };
      if (caller !== undefined) {
        refuse(
          own.filter((field) => body[field] !== undefined),
          (field) => `${field} is not allowed: the person who is invited chooses it`,
        );
        const { id: tenantId } = activeTenant(caller);
        const { role = USUAL_ROLE } = body;
        await invitations.invite(
          caller,
          { tenantId, email: body.email, role, ...names },
          originOf(req),
        );
        return reply(202, { success: true, message: 'The invitation is on its way.' });
      }
      refuse(
        own.filter((field) => body[field] === undefined),
        (field) => `${field} is required`,
      );
      refuse(body.role === undefined ? [] : ['role'], () => 'who registers is the owner');
      const secret = keepConfirmation(cookie, req, res, use.lifetime);
      const application = {
        ...names,
        email: body.email,
        password: body.password ?? '',
        confirmation: body.password_confirmation ?? '',
        tenantName: body.tenant_name ?? '',
        locale: localeOf(req),
      };
      await registration.register(application, secret, originOf(req));
      return reply(202, { success: true, message: 'Check your email to continue.' });
    },
  });

  return {
    register,
    resendVerification: route({
      method: 'post',
      path: '/api/auth/email/resend',
      permission: 'public',
      limit: 'public',
      summary: 'Send another link that confirms an email address',
      description:
        'The answer is the same whether or not the address waits for its confirmation. Where several accounts do, the link is for that of the token, or else of the cookie `confirmation`.',
      body: named('ResendVerification', shape({ email: email() })),
      responses: { 200: done },
      async handler({ body, req, reply }) {
        const caller = req.headers.authorization ? await use.authenticate(req) : null;
        registration.resendVerification(body.email, {
          secret: cookie.secretOf(req),
          userId: caller?.type === 'user' ? caller.id : null,
        });
        const message = 'If this address waits for its confirmation, a mail is on its way.';
        return reply(200, { success: true, message });
      },
    }),
    changeUnconfirmedAddress: route({
      method: 'put',
      path: '/api/auth/email',
      permission: 'authenticated',
      clients: 'first_party',
      admits: ['email_verification_required'],
      summary: 'Correct the email address of an account that has not confirmed it',
      description:
        'Sends a link to the new address; links to the old one end. The account signs in with the new address from then on. The answer is the same whether or not the address has an account.',
      body: named('ChangeUnconfirmedAddress', shape({ email: email() })),
      responses: { 202: done },
      problems: { 409: 'The address of the account is confirmed already' },
      async handler({ caller, body, req, reply }) {
        await registration.changeAddress(personOf(caller), body.email, originOf(req));
        return reply(202, { success: true, message: 'Check your email to continue.' });
      },
    }),
  };
};
