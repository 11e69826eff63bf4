import { personalActions } from '../../activity/actions.ts';

/** Rows of a table that belong to a tenant, which is $1. */
interface ExportedTable {
  /** Which rows; `row` is the table. */
  readonly where: string;
  /** What the export contains; a column that the tenant may not always see has an expression. */
  readonly columns: readonly (string | readonly [column: string, expression: string])[];
  /** Why it does not contain the other columns. */
  readonly leftOut?: Readonly<Record<string, string>>;
}

const MEMBER =
  'EXISTS (SELECT FROM identity.memberships AS m WHERE m.tenant_id = $1 AND m.user_id = row.id)';
const SECRET = 'Verifies a secret.';
const PERSONAL = 'Belongs to the user, not to the tenant.';
/** A tenant sees that an operator of the platform acted, but not which one. */
const unlessOperator = (column: string) =>
  [column, `CASE WHEN NOT row.by_operator THEN row.${column} END AS ${column}`] as const;

/** Every table that the export of a tenant contains. */
export const exportedTables: Readonly<Record<string, ExportedTable>> = {
  tenants: {
    where: 'row.id = $1',
    columns: [
      'id',
      'slug',
      'name',
      'plan',
      'status',
      'versions',
      'pull_request_url',
      'scaling',
      'created_at',
      'updated_at',
    ],
  },
  users: {
    where: MEMBER,
    columns: [
      'id',
      'email',
      'first_name',
      'last_name',
      'is_active',
      'is_service_account',
      'created_at',
    ],
    leftOut: {
      phone: PERSONAL,
      avatar_url: PERSONAL,
      timezone: PERSONAL,
      locale: PERSONAL,
      password_hash: SECRET,
      tenant_id: PERSONAL,
      is_system_admin: 'Concerns the platform, not the tenant.',
      email_verified_at: PERSONAL,
      force_password_change: PERSONAL,
      password_changed_at: PERSONAL,
      last_login_at: PERSONAL,
      updated_at: PERSONAL,
    },
  },
  roles: {
    where: 'row.tenant_id = $1',
    columns: ['id', 'tenant_id', 'name', 'description', 'created_at'],
    leftOut: { revision: 'Only built-in roles have one.' },
  },
  role_policies: {
    where: 'row.role_id IN (SELECT id FROM identity.roles WHERE tenant_id = $1)',
    columns: ['role_id', 'action', 'effect'],
  },
  memberships: {
    where: 'row.tenant_id = $1',
    // Built-in roles are not among the tenant's own.
    columns: [
      'tenant_id',
      'user_id',
      [
        'role_id',
        'row.role_id, (SELECT name FROM identity.roles AS r WHERE r.id = row.role_id) AS role',
      ],
      'created_at',
    ],
  },
  membership_policies: {
    where: 'row.tenant_id = $1',
    columns: ['tenant_id', 'user_id', 'action', 'effect'],
  },
  tokens: {
    where: `row.tenant_id = $1 AND row.use = 'api_key' AND EXISTS (
      SELECT FROM identity.users AS u WHERE u.id = row.user_id AND u.is_service_account)`,
    columns: [
      'id',
      'user_id',
      'tenant_id',
      'client_id',
      'use',
      'name',
      'scopes',
      'created_at',
      'expires_at',
      'revoked_at',
      'last_used_at',
    ],
    leftOut: {
      session_id: 'API keys of service accounts have none.',
      grant_id: 'API keys of service accounts have none.',
      kid: 'Concerns the platform, not the tenant.',
      impersonator_id: 'API keys of service accounts have none.',
      is_narrowed: 'Only tokens of authorizations are.',
      remember: 'API keys of service accounts have none.',
      replaced_by_id: 'API keys of service accounts have none.',
    },
  },
  oauth_clients: {
    where: 'row.tenant_id = $1',
    columns: [
      'client_id',
      'name',
      'redirect_uris',
      'is_trusted',
      'is_first_party',
      'allowed_scopes',
      'tenant_id',
      'disabled_at',
      'created_at',
    ],
    leftOut: {
      secret_hash: SECRET,
      previous_secret_hash: SECRET,
      previous_secret_expires_at: 'Says nothing without the secret.',
    },
  },
  one_time_tokens: {
    where: "row.tenant_id = $1 AND row.purpose = 'invitation'",
    columns: [
      'id',
      'purpose',
      'user_id',
      'email',
      'tenant_id',
      'role_id',
      'inviter_id',
      'first_name',
      'last_name',
      'created_at',
      'expires_at',
      'used_at',
    ],
    leftOut: { token_hash: SECRET },
  },
  activity_entries: {
    where: 'row.tenant_id = $1',
    columns: [
      'id',
      [
        'user_id',
        'CASE WHEN NOT row.by_operator OR row.impersonator_id IS NOT NULL OR row.command IS NOT NULL THEN row.user_id END AS user_id',
      ],
      'tenant_id',
      'by_operator',
      'action',
      'subject_id',
      'reason',
      'command',
      [
        'changes',
        `CASE WHEN row.action NOT IN (${personalActions.map((one) => `'${one}'`).join()}) THEN row.changes END AS changes`,
      ],
      unlessOperator('ip_address'),
      unlessOperator('user_agent'),
      'created_at',
    ],
    leftOut: { impersonator_id: 'Names an operator of the platform.' },
  },
};

/** Tables that the export of a tenant does not contain, and why. */
export const leftOutTables: Readonly<Record<string, string>> = {
  account_deletions: PERSONAL,
  consents: PERSONAL,
  devices: PERSONAL,
  oauth_artifacts: 'Internal state of oidc-provider with secrets.',
  outbox: 'Events that wait to be sent, or were sent within a week.',
  outbox_mails: 'Encrypted mails that wait to be sent.',
  pins: PERSONAL,
  policy_versions: 'A number that orders events.',
  previous_passwords: PERSONAL,
  profile_pictures: PERSONAL,
  recovery_codes: PERSONAL,
  registrations: PERSONAL,
  reserved_slugs: 'Slugs of deleted tenants.',
  sessions: PERSONAL,
  signing_keys: 'Keys of the platform.',
  system_applications: 'Clients of the platform.',
  tenant_deployments: 'What deployment automation still has to be told.',
  two_factors: PERSONAL,
};
