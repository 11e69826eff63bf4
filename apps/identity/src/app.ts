import { asyncapiDocument } from '@tessera/contracts';
import {
  isBusy,
  isDatabaseUnavailable,
  isStatementTimeout,
  migrationsApplied,
} from '@tessera/database-kit';
import {
  type Application,
  bearerScheme,
  createApplication,
  createLimits,
  healthRoutes,
  type Limits,
  type RouteGroups,
  standardProblems,
} from '@tessera/http-kit';
import { authorize } from './access/access.ts';
import { identityErrorExample } from './access/error-examples.ts';
import { requireDecisions } from './access/first-party.ts';
import { shareOfAddress } from './connection-share.ts';
import type { Context } from './context.ts';
import { migrations } from './database.ts';
import { accountDeletionRoutes } from './features/account-deletion/account-deletion.routes.ts';
import { activityRoutes } from './features/activity/activity.routes.ts';
import { adminUserRoutes } from './features/admin-users/admin-users.routes.ts';
import { apiKeyRoutes } from './features/api-keys/api-keys.routes.ts';
import { applicationRoutes } from './features/applications/applications.routes.ts';
import { deviceRoutes } from './features/devices/devices.routes.ts';
import { disputeRoutes } from './features/disputes/disputes.routes.ts';
import { emailChangeRoutes } from './features/email-change/email-change.routes.ts';
import { impersonationRoutes } from './features/impersonation/impersonation.routes.ts';
import { keyRoutes } from './features/keys/keys.routes.ts';
import { meRoutes } from './features/me/me.routes.ts';
import { memberRoutes } from './features/members/members.routes.ts';
import { memberPermissionRoutes } from './features/members/permissions.routes.ts';
import { membershipRoutes } from './features/memberships/memberships.routes.ts';
import { accountRoutes } from './features/messaging-accounts/accounts.routes.ts';
import { passwordRoutes } from './features/passwords/passwords.routes.ts';
import { personalDataRoutes } from './features/personal-data/personal-data.routes.ts';
import { pictureRoutes } from './features/picture/picture.routes.ts';
import { pinRoutes } from './features/pin/pin.routes.ts';
import { policyRoutes } from './features/policies/policies.routes.ts';
import { principalRoutes } from './features/principals/principals.routes.ts';
import { profileRoutes } from './features/profile/profile.routes.ts';
import { reauthenticationRoutes } from './features/reauthentication/reauthentication.routes.ts';
import { confirmationRoutes } from './features/registration/confirmation.routes.ts';
import { confirmationCookie } from './features/registration/confirmation-cookie.ts';
import { invitationRoutes } from './features/registration/invitations.routes.ts';
import { pendingInvitationRoutes } from './features/registration/pending-invitations.routes.ts';
import { registrationRoutes } from './features/registration/registration.routes.ts';
import { roleRoutes } from './features/roles/roles.routes.ts';
import { serviceAccountRoutes } from './features/service-accounts/service-accounts.routes.ts';
import { serviceHealthRoutes } from './features/service-health/service-health.routes.ts';
import { openSessionRoutes } from './features/sessions/open-sessions.routes.ts';
import { sessionRoutes } from './features/sessions/sessions.routes.ts';
import { signInRoutes } from './features/sign-in/sign-in.routes.ts';
import { scalingRoutes } from './features/tenants/scaling.routes.ts';
import { storageRoutes } from './features/tenants/storage.routes.ts';
import { tenantRoutes } from './features/tenants/tenants.routes.ts';
import { twoFactorRoutes } from './features/two-factor/two-factor.routes.ts';
import { type Caller, Failure, renderError } from './http/route.ts';
import { cookieScheme, sessionCookie } from './http/session-cookie.ts';
import { version } from './http/version.ts';
import { clientScheme } from './oauth/client-authentication.ts';
import { discoveryRoutes } from './oauth/discovery.routes.ts';
import { oauthRoutes } from './oauth/oauth.routes.ts';
import { userOAuthRoutes } from './oauth/user/user.routes.ts';
import { renderFailure } from './pages/failure.ts';
import { pageRoutes } from './pages/pages.ts';
import { rootRoutes } from './pages/root.page.ts';

const BODY_LIMIT = 100 * 1024;

const problems = {
  ...standardProblems,
  401: 'The token is missing, expired, revoked or not genuine',
  403: 'The caller lacks a permission, which is named, or the tenant is suspended',
  404: 'The resource does not exist, or the caller may not see it',
  503: 'The service is temporarily unavailable; `Retry-After` is the number of seconds to wait',
};

const MINUTE = 60;
const HOUR = 3600;

/**
 * The key of a caller's rate limits. Each API key has its own limit; the tokens of a person share one. Callers who
 * have not proved that they own the account (replaced tokens, sign-ins that wait for a factor, administrators who act
 * as the user) are counted separately, so that they cannot exhaust the owner's limit.
 */
const principalKey = (caller: Caller): string => {
  if (caller.type === 'client') return `client:${caller.id}`;
  if (caller.type === 'service_account' || caller.isReplaced) return caller.tokenId;
  if (caller.impersonatorId !== null) return `acting:${caller.impersonatorId}`;
  const { id, restriction } = caller;
  const isWaiting = restriction === 'two_factor_required' || restriction === 'pin_required';
  return isWaiting ? `${restriction}:${id}` : `user:${id}`;
};

const limitsOf = ({ config: { limits }, counters }: Context) =>
  createLimits<Caller>({
    classes: {
      default: { window: MINUTE, address: limits.address, principal: limits.principal },
      // Separate, so that a caller who has exceeded another limit can still sign out.
      signOut: { window: MINUTE, address: limits.address, principal: limits.principal },
      password: { window: MINUTE, address: limits.public, principal: limits.password },
      public: { window: MINUTE, address: limits.public, principal: 0 },
      form: { window: MINUTE, address: limits.form, principal: 0 },
      login: { window: MINUTE, address: limits.login, principal: 0 },
      twoFactor: { window: MINUTE, address: limits.twoFactor, principal: limits.twoFactor },
      pin: { window: MINUTE, address: limits.pin, principal: limits.pin },
      passwordForgot: { window: HOUR, address: limits.passwordForgot, principal: 0 },
      service: { window: MINUTE, address: limits.service, principal: limits.servicePrincipal },
      // All replicas of a service ask as one client, for all tenants.
      rights: { window: MINUTE, address: limits.service, principal: 0 },
    },
    store: counters.store,
    principalKey,
  });

/** The routes by tag, in the order of the document. */
const routesOf = (context: Context, limits: Limits): RouteGroups => ({
  Health: {
    ...rootRoutes(context.config),
    ...healthRoutes({
      path: '/api/health',
      service: 'identity',
      version,
      // A share of its own: a replica that is busy is ready.
      ready: migrationsApplied(context.pool.share('readiness'), migrations),
    }),
  },
  Keys: keyRoutes(context.keys),
  'Sign-in': signInRoutes(context.signIn, context.config),
  'Two-factor authentication': twoFactorRoutes(context.twoFactor, context.config),
  PIN: pinRoutes(context.pins),
  Passwords: passwordRoutes(context.passwords),
  Reauthentication: reauthenticationRoutes(context.reauthentication),
  Registration: {
    ...registrationRoutes({
      registration: context.registration,
      invitations: context.invitations,
      isOpen: context.config.registrationEnabled,
      isLocal: context.config.isLocal,
      lifetime: context.config.lifetimes.registration,
      authenticate: (req) => context.authentication.caller(req),
    }),
    ...confirmationRoutes({
      confirmation: context.confirmation,
      isLocal: context.config.isLocal,
      authenticate: (req) => context.authentication.caller(req),
    }),
  },
  Devices: deviceRoutes(context.devices),
  Sessions: {
    ...sessionRoutes(context.sessions, context.config),
    ...openSessionRoutes(context.openSessions),
  },
  OAuth: {
    ...oauthRoutes(context, context.config),
    ...userOAuthRoutes(context.authorizationServer),
    ...discoveryRoutes(context.config),
  },
  Me: {
    ...meRoutes(context.me),
    ...membershipRoutes(context.memberships),
    ...applicationRoutes(context.applications),
    ...accountDeletionRoutes(context.accountDeletions),
    ...personalDataRoutes(context.personalData),
  },
  Profile: {
    ...profileRoutes(context.profiles),
    ...pictureRoutes(context.pictures),
    ...emailChangeRoutes(context.emailChanges),
  },
  Policies: {
    ...policyRoutes(context.policies, context.config.permissions),
    ...principalRoutes(context.principals),
  },
  'Service accounts': {
    ...serviceAccountRoutes(context.serviceAccounts),
    ...apiKeyRoutes(context.apiKeys, context.config.permissions),
  },
  Members: {
    ...memberRoutes(context.members, context.config.permissions),
    ...memberPermissionRoutes(context.members, context.config.permissions),
    ...invitationRoutes({
      invitations: context.invitations,
      authenticate: (req) => context.authentication.caller(req),
    }),
    ...pendingInvitationRoutes(context.pendingInvitations),
  },
  Roles: roleRoutes(context.roles, context.config.permissions),
  Users: {
    ...adminUserRoutes(context.adminUsers),
    ...impersonationRoutes(context.impersonation),
  },
  Activity: { ...activityRoutes(context.activity), ...disputeRoutes(context.disputes) },
  Pages: pageRoutes(context, limits),
  'Tenant administration': {
    ...tenantRoutes(context.tenantAdministration.tenants),
    ...scalingRoutes(context.tenantAdministration.tenants),
    ...storageRoutes(context.tenantAdministration),
    ...serviceHealthRoutes(context.tenantAdministration.health),
  },
  'E-mail and SMS accounts': accountRoutes(context.tenantAdministration),
});

/** Bearer tokens that may have expired: for the renewal of a token, and for the end of its session. */
const credentials = { renewable: bearerScheme, ending: bearerScheme };

/** The application and its OpenAPI document. */
export const createApp = (context: Context): Application => {
  const { config, logger, metrics, observers } = context;
  const limits = limitsOf(context);
  return createApplication<Caller>({
    groups: requireDecisions(routesOf(context, limits)),
    about: {
      title: 'Tessera identity',
      version,
      description: 'Who is calling, for which tenant, with which rights.',
      error: Failure,
      problems,
      errorExample: identityErrorExample,
      optionalCredentials: {
        client: { client: clientScheme },
        session: {
          session: cookieScheme(
            sessionCookie(config),
            'The web session of a browser. Without it, the user has to sign in first.',
          ),
        },
        confirmation: {
          confirmation: cookieScheme(
            confirmationCookie(config),
            'Set by a registration: shows that the same browser confirms the address.',
          ),
        },
      },
    },
    documents: { '/docs/events.json': asyncapiDocument },
    gate: {
      credentials,
      authenticate: (req, { credential }) =>
        credential === 'renewable'
          ? context.authentication.renewer(req)
          : context.authentication.caller(req, { mayBeExpired: credential === 'ending' }),
      authorize,
    },
    limits,
    bodyLimit: BODY_LIMIT,
    cors: { origins: config.corsOrigins, credentials: true },
    trustedProxies: config.trustedProxies,
    render: renderError,
    renderPage: renderFailure(config),
    isBusy,
    isDatabaseUnavailable,
    isStatementTimeout,
    logger,
    logsHealthChecks: config.logsHealthChecks,
    metrics,
    observers: [shareOfAddress, ...observers],
  });
};
