/** Every table with personal data and the sections of the export that contain it. */
export const EXPORTED_TABLES: Readonly<Record<string, readonly string[]>> = {
  users: ['profile', 'password'],
  profile_pictures: ['picture'],
  memberships: ['memberships'],
  membership_policies: ['memberships.0.policies'],
  devices: ['devices'],
  sessions: ['sessions'],
  tokens: ['tokens'],
  consents: ['applications'],
  previous_passwords: ['previous_passwords'],
  two_factors: ['two_factor'],
  recovery_codes: ['two_factor.recovery_codes_left'],
  pins: ['pin'],
  registrations: ['registration'],
  account_deletions: ['deletion'],
  one_time_tokens: ['mailed_links', 'invitations_received', 'invitations_made'],
  activity_entries: ['activity', 'activity_as_administrator', 'activity_of_others'],
};

/** Tables that look like personal data, and why the export omits them. */
export const EXEMPT_TABLES: Readonly<Record<string, string>> = {
  oauth_artifacts:
    'Internal state of oidc-provider: secrets of sessions, grants and tokens, which are listed in `sessions`, `tokens` and `applications`.',
  outbox:
    'Events contain only user ids, are meant for other services, and are deleted after a week.',
  outbox_mails:
    'Encrypted, except for the domain of the address, and without a reference to a user. Mails are sent within minutes and deleted after at most a week; the activity log records what they report.',
  signing_keys: 'Keys of the service, not personal data.',
};

/** Columns of `users` that the profile omits, and why. */
export const EXEMPT_COLUMNS: Readonly<Record<string, string>> = {
  password_hash: 'A hash; `password` shows whether one is set.',
  password_changed_at: 'In `password`.',
  force_password_change: 'In `password`, as `must_be_changed`.',
  tenant_id: 'In the profile, as `current_tenant_id`.',
};
