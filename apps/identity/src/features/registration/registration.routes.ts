import { email, named, shape } from '@tessera/fields';
import { type RouteEntry, type RouteTable, validationFailed } from '@tessera/http-kit';
import type { Request } from 'express';
import { activeTenant, authorize, personOf } from '../../access/access.ts';
import { type Caller, done, route } from '../../http/route.ts';
import { localeOf, originOf } from '../../origin/origin.ts';
import { confirmationCookie, setConfirmationCookie } from './confirmation-cookie.ts';
import type { InvitationsService } from './invitations.service.ts';
import { Register } from './registration.schema.ts';
import type { RegistrationService } from './registration.service.ts';

export interface Dependencies {
  readonly registration: RegistrationService;
  readonly invitations: InvitationsService;
  /** Whether registration without an invitation is enabled. */
  readonly isOpen: boolean;
  readonly isLocal: boolean;
  /** Seconds after which an unconfirmed account is deleted. */
  readonly lifetime: number;
  authenticate(req: Request): Promise<Caller>;
}

const PERMISSION = 'identity.users.create';

/** Role of an invited member if none is given. */
const DEFAULT_ROLE = 'member';

const registrationFields = ['password', 'password_confirmation', 'tenant_name'] as const;

/** 422 naming each of the fields, if any. */
const rejectFields = (fields: readonly string[], message: (field: string) => string): void => {
  if (fields.length === 0) return;
  throw validationFailed(Object.fromEntries(fields.map((field) => [field, [message(field)]])));
};

export const registrationRoutes = (dependencies: Dependencies): RouteTable => {
  const { registration, invitations, isOpen } = dependencies;
  const cookie = confirmationCookie(dependencies);

  /** The caller if the request has a token; undefined for a registration. */
  const callerOf = async (req: Request): Promise<Caller | undefined> => {
    if (req.headers.authorization === undefined) return undefined;
    const caller = await dependencies.authenticate(req);
    await authorize(caller, { ...register, permission: PERMISSION }, req);
    return caller;
  };

  const register: RouteEntry = route({
    method: 'post',
    path: '/api/auth/register',
    permission: isOpen ? 'public' : PERMISSION,
    // Clients do not know whether registration is enabled.
    optionalCredentials: ['bearer'],
    limit: isOpen ? 'public' : 'default',
    summary: 'Invite a person to the tenant, or register',
    description:
      'With a token that has `identity.users.create`: invites a person by mail to the active tenant, with a role that grants only permissions the caller holds. It replaces earlier invitations of the address to the tenant, except those to roles that grant permissions the caller does not hold. They choose their own password; the names are suggestions. Without a token, if REGISTRATION_ENABLED is set: registers the caller, who must confirm the address before the account can be used and the tenant `tenant_name` is created. Sets the cookie `confirmation`, with which the mailed link confirms the address. The response is the same whether or not the address has an account.',
    body: Register,
    responses: { 202: done },
    problems: {
      401: 'The token is missing or invalid; registration without a token is disabled',
      403: 'The caller may not invite members',
    },
    async handler({ caller: known, body, req, res, reply }) {
      const caller = known ?? (await callerOf(req));
      const names = { firstName: body.first_name, lastName: body.last_name };
      if (caller !== undefined) {
        rejectFields(
          registrationFields.filter((field) => body[field] !== undefined),
          (field) => `${field} is not allowed: the invited person chooses it`,
        );
        const { id: tenantId } = activeTenant(caller);
        const { role = DEFAULT_ROLE } = body;
        await invitations.invite(
          caller,
          { tenantId, email: body.email, role, ...names },
          originOf(req),
        );
        return reply(202, { success: true, message: 'The invitation is on its way.' });
      }
      const missing = registrationFields.filter((field) => body[field] === undefined);
      rejectFields([...missing, ...(body.role === undefined ? [] : ['role'])], (field) =>
        field === 'role'
          ? 'role is not allowed: whoever registers becomes the owner'
          : `${field} is required`,
      );
      const secret = setConfirmationCookie(cookie, req, res, dependencies.lifetime);
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
      optionalCredentials: ['bearer', 'confirmation'],
      limit: 'public',
      summary: 'Resend the link that confirms an email address',
      description:
        'The response is the same whether or not the address is waiting for confirmation. If several accounts have the address, the link is for the account of the token, or else of the cookie `confirmation`.',
      body: named('ResendVerification', shape({ email: email() })),
      responses: { 200: done },
      async handler({ body, req, reply }) {
        const caller = req.headers.authorization ? await dependencies.authenticate(req) : null;
        registration.resendVerification(body.email, {
          secret: cookie.secretOf(req),
          userId: caller?.type === 'user' ? caller.id : null,
        });
        const message = 'If this address is waiting for confirmation, a mail is on its way.';
        return reply(200, { success: true, message });
      },
    }),
    changeUnconfirmedAddress: route({
      method: 'put',
      path: '/api/auth/email',
      permission: 'authenticated',
      clients: 'first_party',
      allowRestrictions: ['email_verification_required'],
      summary: 'Change the email address of an unconfirmed account',
      description:
        'Sends a link to the new address; links to the old one stop working. From then on, the account signs in with the new address. The response is the same whether or not another account has the address.',
      body: named('ChangeUnconfirmedAddress', shape({ email: email() })),
      responses: { 202: done },
      problems: { 409: 'The address of the account is already confirmed' },
      async handler({ caller, body, req, reply }) {
        await registration.changeAddress(personOf(caller), body.email, originOf(req));
        return reply(202, { success: true, message: 'Check your email to continue.' });
      },
    }),
  };
};
