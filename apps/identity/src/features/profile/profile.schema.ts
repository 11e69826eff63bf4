import {
  bool,
  described,
  matching,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  partial,
  rawText,
  shape,
  text,
  time,
  timeZone,
  uuid,
} from '@tessera/fields';
import { ACTIVITY_KINDS, actionOf } from '../../activity/actions.ts';
import { LoggedChanges, ownChanges } from '../../activity/changes.ts';
import type { ActivityEntry, User } from '../../generated/prisma/client.ts';
import { pageFields } from '../../http/route.ts';
import type { ProfileChange, Security } from './profile.repository.ts';

/** Supported languages. */
const locale = oneOf('en', 'hu', 'de');

/** Digits with common separators and an optional extension. */
const PHONE = /^\+?[0-9][0-9 ()./-]*( *(x|ext\.?) *[0-9]+)?$/;

const phone = described(
  matching(PHONE, 'a telephone number', 50),
  'In any common notation',
  '+36 1 234 5678',
);

const names = { first_name: text(200), last_name: text(200) };

export const Profile = named(
  'Profile',
  shape({
    id: uuid(),
    email: nullable(text(254)),
    name: text(401),
    first_name: text(200),
    // Empty for a service account, which has a single name.
    last_name: rawText(200, 0),
    phone: nullable(text(50)),
    avatar_url: nullable(text(2000)),
    timezone: text(64),
    locale,
  }),
);

export const ProfileInput = named(
  'ProfileInput',
  partial(shape({ ...names, phone: nullable(phone), timezone: timeZone(), locale })),
);

/** The fields of the profile form, all required; an empty phone number means none. */
export const profileFormFields = {
  ...names,
  phone: matching(new RegExp(`^(${PHONE.source.slice(1, -1)})?$`), 'a telephone number', 50),
  timezone: timeZone(),
  locale,
};

export const SecurityStatus = named(
  'SecurityStatus',
  shape({
    two_factor_enabled: bool(),
    pin_enabled: bool(),
    force_password_change: bool(),
    password_changed_at: nullable(time()),
  }),
);

export const Activity = named(
  'ActivityEntry',
  shape({
    id: uuid(),
    action: text(100),
    ip_address: nullable(text(100)),
    user_agent: nullable(text(500)),
    kind: described(
      nullable(oneOf(...ACTIVITY_KINDS)),
      'Category of the action; null for actions of earlier versions',
    ),
    by_operator: described(
      bool(),
      'True if an administrator of the platform acted as the user or ran a command on the account',
    ),
    changes: described(LoggedChanges, 'What changed, by field; null if the action has no changes'),
    created_at: time(),
  }),
);

export const ActivityQuery = shape({
  ...pageFields,
  kind: optional(oneOf(...ACTIVITY_KINDS)),
  from: described(optional(time()), 'Start of the period (inclusive)'),
  to: described(optional(time()), 'End of the period (exclusive)'),
});

/** Only this service writes the column, so the value is supported. */
const localeOf = (value: string): 'en' | 'hu' | 'de' =>
  value === 'hu' || value === 'de' ? value : 'en';

export const presentProfile = (user: User) => ({
  id: user.id,
  email: user.email,
  name: `${user.firstName} ${user.lastName}`.trim(),
  first_name: user.firstName,
  last_name: user.lastName,
  phone: user.phone,
  avatar_url: user.avatarUrl,
  timezone: user.timezone,
  locale: localeOf(user.locale),
});

export const changeOf = ({
  first_name,
  last_name,
  ...rest
}: Out<typeof ProfileInput>): ProfileChange => ({
  firstName: first_name,
  lastName: last_name,
  ...rest,
});

export const presentSecurity = (security: Security) => ({
  two_factor_enabled: security.twoFactorEnabled,
  pin_enabled: security.pinEnabled,
  force_password_change: security.forcePasswordChange,
  password_changed_at: security.passwordChangedAt,
});

export const presentActivity = (entry: ActivityEntry) => ({
  id: entry.id,
  action: entry.action,
  // For impersonated actions these are the administrator's.
  ip_address: entry.impersonatorId === null ? entry.ipAddress : null,
  // Earlier releases stored an empty header as it was.
  user_agent: entry.impersonatorId === null ? entry.userAgent || null : null,
  kind: actionOf(entry.action)?.kind ?? null,
  by_operator: entry.impersonatorId !== null || entry.command !== null,
  changes: ownChanges(entry),
  created_at: entry.createdAt,
});
