import { described, int, type OutOf, withDefault } from '@tessera/fields';
import { days, seconds } from './fields.ts';

/** How long tokens, sessions, links and pending requests last. */
export const lifetimeVariables = {
  ACCESS_TOKEN_TTL: described(
    withDefault(seconds(days(1)), 3600),
    'Access token lifetime, in seconds.',
  ),
  SESSION_TTL: described(
    withDefault(seconds(), days(30)),
    'Maximum session lifetime in seconds without "remember me"; the cookie expires when the browser closes.',
  ),
  REMEMBER_TTL: described(
    withDefault(seconds(), days(30)),
    'Lifetime in seconds of a session with "remember me", and of its cookie.',
  ),
  PERSONAL_ACCESS_TOKEN_TTL: described(
    withDefault(seconds(), days(1)),
    'Lifetime in seconds of the token issued by a tenant switch.',
  ),
  REFRESH_REUSE_GRACE_SECONDS: described(
    withDefault(int(0, 300), 0),
    'Seconds after a renewal in which the previous token can be renewed again, for example by another tab; 0 disables this.',
  ),
  API_KEY_TTL: described(
    withDefault(seconds(days(365)), days(90)),
    'Lifetime in seconds of an API key that is created without an expiry date.',
  ),
  API_KEY_MAX_TTL: described(
    withDefault(seconds(days(365)), days(365)),
    'Maximum lifetime of an API key, in seconds.',
  ),
  TWO_FACTOR_PENDING_TTL: described(
    withDefault(seconds(3600), 300),
    'Seconds to enter the second factor during a sign-in.',
  ),
  TRUSTED_DEVICE_TTL: described(
    withDefault(seconds(), days(30)),
    'Seconds for which a trusted device skips the second factor.',
  ),
  IMPERSONATION_TTL: described(
    withDefault(seconds(), 3600),
    'Seconds for which an administrator can act as another user.',
  ),
  REAUTHENTICATE_AFTER_SECONDS: described(
    withDefault(seconds(), 600),
    'Maximum age of the last authentication, in seconds, for sensitive changes such as adding or removing a second factor or a PIN.',
  ),
  ACCOUNT_DELETION_DELAY: described(
    withDefault(seconds(), days(14)),
    'Seconds between the request to delete an account and its deletion, during which the owner can cancel it.',
  ),
  ACTIVITY_RETENTION: described(
    withDefault(seconds(days(3660)), days(400)),
    'Seconds after which entries of the activity log are deleted.',
  ),
  PASSWORD_RESET_TTL: described(
    withDefault(seconds(days(1)), 3600),
    'Lifetime in seconds of a password reset link.',
  ),
  EMAIL_VERIFICATION_TTL: described(
    withDefault(seconds(), days(1)),
    'Lifetime in seconds of the link that confirms an email address.',
  ),
  EMAIL_CHANGE_TTL: described(
    withDefault(seconds(), days(1)),
    'Lifetime in seconds of the link that confirms the new address of an account.',
  ),
  EMAIL_CHANGE_UNDO_TTL: described(
    withDefault(seconds(), days(3)),
    'Seconds for which a change of address can be undone from the old address.',
  ),
  REGISTRATION_TTL: described(
    withDefault(seconds(), days(7)),
    'Seconds to confirm the address of a registration; then the registration is deleted.',
  ),
  INVITATION_TTL: described(
    withDefault(seconds(), days(7)),
    'Lifetime of an invitation, in seconds.',
  ),
  IDLE_SIGN_OUT_SECONDS: described(
    withDefault(int(0, days(1)), 1800),
    'Seconds of inactivity after which a browser without "remember me" is signed out; using the pages or the tokens of the session counts as activity; 0 disables this.',
  ),
} as const;

/** All in seconds. */
export const lifetimeSettings = (read: OutOf<typeof lifetimeVariables>) => ({
  lifetimes: {
    accessToken: read.ACCESS_TOKEN_TTL,
    personalAccessToken: read.PERSONAL_ACCESS_TOKEN_TTL,
    reuseGrace: read.REFRESH_REUSE_GRACE_SECONDS,
    session: read.SESSION_TTL,
    remembered: read.REMEMBER_TTL,
    passwordReset: read.PASSWORD_RESET_TTL,
    emailVerification: read.EMAIL_VERIFICATION_TTL,
    emailChange: read.EMAIL_CHANGE_TTL,
    emailChangeUndo: read.EMAIL_CHANGE_UNDO_TTL,
    registration: read.REGISTRATION_TTL,
    invitation: read.INVITATION_TTL,
    pendingSignIn: read.TWO_FACTOR_PENDING_TTL,
    deviceTrust: read.TRUSTED_DEVICE_TTL,
    impersonation: read.IMPERSONATION_TTL,
    apiKey: { usual: read.API_KEY_TTL, longest: read.API_KEY_MAX_TTL },
  },
  reauthenticateAfter: read.REAUTHENTICATE_AFTER_SECONDS,
  accountDeletionDelay: read.ACCOUNT_DELETION_DELAY,
  activityRetention: read.ACTIVITY_RETENTION,
  /** 0: never. */
  idleSignOut: read.IDLE_SIGN_OUT_SECONDS,
});
