import { described, email, named, optional, shape, text, uuid, verbatim } from '@tessera/fields';
import { type RouteEntry, type RouteTable, validationFailed } from '@tessera/http-kit';
import type { Request } from 'express';
import { activeTenant, authorize } from '../../access.ts';
import { type Caller, done, route, success } from '../../http.ts';
import { localeOf, originOf } from '../../origin.ts';
import type { RegistrationService } from './registration.service.ts';

export const Register = named(
  'Register',
  shape({
    first_name: text(200),
    last_name: text(200),
    email: email(),
    password: verbatim(1000, 0),
    password_confirmation: verbatim(1000, 0),
    role: described(optional(text(100)), 'Of a member; `member` unless given'),
    tenant_name: described(optional(text(200)), 'Of who registers themselves: their own tenant'),
  }),
);

const RegisteredUser = named(
  'RegisteredUser',
  shape({
    id: uuid(),
    email: text(254),
    first_name: text(200),
    last_name: text(200),
    name: text(401),
    tenant_id: uuid(),
    role: text(100),
  }),
);

interface Dependencies {
  readonly registration: RegistrationService;
  /** Whether anybody may register themselves. */
  readonly isOpen: boolean;
  authenticate(req: Request): Promise<Caller>;
}

const PERMISSION = 'identity.users.create';

const demand = (isFine: boolean, field: string, message: string): void => {
  if (!isFine) throw validationFailed({ [field]: [message] });
};

export const registrationRoutes = (use: Dependencies): RouteTable => {
  const { registration, isOpen } = use;

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
    summary: 'Register a member of the tenant, or oneself',
    description:
      'With a token that holds `identity.users.create`: makes a member of the active tenant (201), whose role gives nothing that the caller lacks. Without a token, where REGISTRATION_ENABLED is set: makes a user and a tenant of their own, whose name is `tenant_name`, and answers 202, the same whether or not the address is taken.',
    body: Register,
    responses: { 201: success(RegisteredUser), 202: done },
    problems: {
      401: 'There is no token, or it is not good; without one, nobody may register themselves here',
      403: 'The caller may not register others',
    },
    async handler({ caller: known, body, req, reply }) {
      const caller = known ?? (await callerOf(req));
      const { first_name, last_name, password_confirmation, role, tenant_name, ...given } = body;
      const application = {
        ...given,
        firstName: first_name,
        lastName: last_name,
        confirmation: password_confirmation,
        locale: localeOf(req),
      };
      if (caller === undefined) {
        demand(role === undefined, 'role', 'who registers themselves is the owner');
        demand(tenant_name !== undefined, 'tenant_name', 'tenant_name is required');
        await registration.registerOwner(application, tenant_name ?? '', originOf(req));
        const message = 'Look into your mails: what to do next is in there.';
        return reply(202, { success: true, message });
      }
      demand(tenant_name === undefined, 'tenant_name', 'a member has no tenant of their own');
      const { id: tenantId } = activeTenant(caller);
      const person = { ...application, role };
      const made = await registration.registerMember(caller, tenantId, person, originOf(req));
      const data = {
        ...made,
        ...{ email: body.email, first_name, last_name },
        name: `${first_name} ${last_name}`,
        tenant_id: tenantId,
      };
      return reply(201, { success: true, data });
    },
  });

  return {
    register,
    verifyEmail: route({
      method: 'get',
      path: '/api/auth/email/verify',
      permission: 'public',
      limit: 'public',
      summary: 'Confirm an e-mail address, with the token of the mail',
      query: shape({ token: verbatim(200) }),
      responses: { 200: done },
      problems: { 422: 'The link is invalid or has expired' },
      async handler({ query, req, reply }) {
        await registration.verifyEmail(query.token, originOf(req));
        return reply(200, { success: true, message: 'The e-mail address is confirmed.' });
      },
    }),
    resendVerification: route({
      method: 'post',
      path: '/api/auth/email/resend',
      permission: 'public',
      limit: 'public',
      summary: 'Ask for another link that confirms an e-mail address',
      description: 'The answer is the same whether or not the address waits for its confirmation.',
      body: named('ResendVerification', shape({ email: email() })),
      responses: { 200: done },
      handler({ body, reply }) {
        registration.resendVerification(body.email);
        const message = 'If this address waits for its confirmation, a mail is on its way.';
        return reply(200, { success: true, message });
      },
    }),
  };
};
