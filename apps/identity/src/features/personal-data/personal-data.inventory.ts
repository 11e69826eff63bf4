/** Every table with personal data, and where the document has it. */
export const HELD: Readonly<Record<string, readonly string[]>> = {
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

/** Tables that could be taken for such, and why the document does not have them. */
export const EXEMPT_TABLES: Readonly<Record<string, string>> = {
  oauth_artifacts:
    'What oidc-provider needs to go on: secrets of sessions, grants and tokens, which stand in `sessions`, `tokens` and `applications`.',
  outbox: 'Events name users by their id alone, for other services, and go after a week.',
  outbox_mails:
    'Sealed, and without a reference to a person: mails that leave within minutes and go after a week at the latest. What they tell of is in the log.',
  signing_keys: 'Keys of the service, and nobody’s.',
};

/** Columns of a user that the profile does not have, and why. */
export const EXEMPT_COLUMNS: Readonly<Record<string, string>> = {
  password_hash: 'A hash; `password` tells that there is one.',
  password_changed_at: 'In `password`.',
  force_password_change: 'In `password`, as `must_be_changed`.',
  tenant_id: 'In the profile, as `current_tenant_id`.',
};
