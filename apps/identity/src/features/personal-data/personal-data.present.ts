import { ownChanges, presentChanges } from '../../activity/changes.ts';
import type {
  ActivityEntry,
  Device,
  Prisma,
  Session,
  Token,
} from '../../generated/prisma/client.ts';
import type { Entries, Section, Single } from './personal-data.schema.ts';

/** One item of a section. */
type Entry<S extends Section> = Entries[S][number];

type Person = Prisma.UserGetPayload<{
  include: {
    twoFactor: true;
    recoveryCodes: { select: { usedAt: true } };
    pin: true;
    registration: true;
    deletion: true;
    picture: { select: { createdAt: true } };
  };
}>;

const twoFactor = ({ twoFactor: factor, recoveryCodes }: Person): Single['two_factor'] =>
  factor && {
    created_at: factor.createdAt,
    confirmed_at: factor.confirmedAt,
    failures: factor.failures,
    locked_until: factor.lockedUntil,
    recovery_failures: factor.recoveryFailures,
    recovery_locked_until: factor.recoveryLockedUntil,
    recovery_codes_left: recoveryCodes.filter(({ usedAt }) => usedAt === null).length,
    recovery_codes_used: recoveryCodes.filter(({ usedAt }) => usedAt !== null).length,
  };

const profile = (user: Person): Single['profile'] => ({
  id: user.id,
  email: user.email,
  email_verified_at: user.emailVerifiedAt,
  first_name: user.firstName,
  last_name: user.lastName,
  phone: user.phone,
  avatar_url: user.avatarUrl,
  timezone: user.timezone,
  locale: user.locale,
  current_tenant_id: user.tenantId,
  is_active: user.isActive,
  is_service_account: user.isServiceAccount,
  is_system_admin: user.isSystemAdmin,
  last_login_at: user.lastLoginAt,
  created_at: user.createdAt,
  updated_at: user.updatedAt,
});

/**
 * The single objects of the export. For passwords, second factors and PINs only that they exist and since when.
 */
export const single = (user: Person): Single => {
  const { pin, registration, deletion } = user;
  return {
    profile: profile(user),
    picture: user.picture && { created_at: user.picture.createdAt },
    password: {
      is_set: user.passwordHash !== null,
      changed_at: user.passwordChangedAt,
      must_be_changed: user.forcePasswordChange,
    },
    two_factor: twoFactor(user),
    pin: pin && {
      created_at: pin.createdAt,
      failures: pin.failures,
      locked_until: pin.lockedUntil,
    },
    registration: registration && {
      tenant_name: registration.tenantName,
      expires_at: registration.expiresAt,
    },
    deletion: deletion && {
      requested_at: deletion.requestedAt,
      due_at: deletion.dueAt,
      reminded_at: deletion.remindedAt,
    },
  };
};

/** A membership row with its relations. */
export type Joined = Prisma.MembershipGetPayload<{
  include: {
    tenant: { select: { id: true; slug: true; name: true } };
    role: { select: { name: true } };
    policies: true;
  };
}>;

/** A consent row with its relations. */
export type Allowed = Prisma.ConsentGetPayload<{
  include: {
    tenant: { select: { id: true; slug: true; name: true } };
    client: { select: { name: true } };
  };
}>;

/** A mailed link row with its relations. */
export type Link = Prisma.OneTimeTokenGetPayload<{
  include: {
    tenant: { select: { id: true; slug: true; name: true } };
    role: { select: { name: true } };
  };
}>;

export const membership = (row: Joined): Entry<'memberships'> => ({
  tenant: row.tenant,
  role: row.role.name,
  policies: row.policies.map(({ action, effect }) => ({
    action,
    effect: effect === 'deny' ? 'deny' : 'allow',
  })),
  joined_at: row.createdAt,
});

export const device = (row: Device): Entry<'devices'> => ({
  id: row.id,
  name: row.name,
  custom_name: row.customName,
  type: row.type,
  browser: row.browser,
  os: row.os,
  networks: row.networks,
  trusted_until: row.trustedUntil,
  last_used_at: row.lastUsedAt,
  created_at: row.createdAt,
  ip_address: row.ipAddress,
  user_agent: row.userAgent,
});

export const session = (row: Session): Entry<'sessions'> => ({
  id: row.id,
  device_id: row.deviceId,
  authenticated_by: row.amr,
  is_remembered: row.isRemembered,
  is_locked: row.pinPending,
  created_at: row.createdAt,
  authenticated_at: row.authenticatedAt,
  last_active_at: row.lastActiveAt,
  expires_at: row.expiresAt,
  ended_at: row.endedAt,
  ip_address: row.ipAddress,
  user_agent: row.userAgent,
});

export const token = (row: Token): Entry<'tokens'> => ({
  id: row.id,
  use: row.use,
  name: row.name,
  client_id: row.clientId,
  tenant_id: row.tenantId,
  session_id: row.impersonatorId === null ? row.sessionId : null,
  scopes: row.scopes ?? [],
  created_at: row.createdAt,
  expires_at: row.expiresAt,
  last_used_at: row.lastUsedAt,
  revoked_at: row.revokedAt,
});

export const application = (row: Allowed): Entry<'applications'> => ({
  client_id: row.clientId,
  name: row.client.name,
  tenant: row.tenant,
  scopes: row.scopes,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

export const mailedLink = (row: Link): Entry<'mailed_links'> => ({
  purpose: row.purpose,
  email: row.email,
  tenant: row.tenant,
  created_at: row.createdAt,
  expires_at: row.expiresAt,
  used_at: row.usedAt,
});

/** Omits the other party, who is another person. */
export const invitation = (row: Link): Entry<'invitations_made' | 'invitations_received'> => ({
  tenant: row.tenant,
  role: row.role?.name ?? null,
  created_at: row.createdAt,
  expires_at: row.expiresAt,
  used_at: row.usedAt,
});

/**
 * For impersonated actions, the address, user agent and reason belong to the administrator and are omitted.
 */
export const activity = (row: ActivityEntry): Entry<'activity'> => {
  const isOwn = row.impersonatorId === null;
  return {
    id: row.id,
    created_at: row.createdAt,
    action: row.action,
    tenant_id: row.tenantId,
    reason: isOwn ? row.reason : null,
    by_administrator: !isOwn,
    ip_address: isOwn ? row.ipAddress : null,
    user_agent: isOwn ? row.userAgent : null,
    changes: ownChanges(row),
  };
};

export const activityAsAdministrator = (
  row: ActivityEntry,
): Entry<'activity_as_administrator'> => ({
  id: row.id,
  created_at: row.createdAt,
  action: row.action,
  tenant_id: row.tenantId,
});

export const activityOfOthers = (row: ActivityEntry): Entry<'activity_of_others'> => ({
  ...activityAsAdministrator(row),
  changes: presentChanges(row.changes),
});
