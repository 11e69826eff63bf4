/** Categories of the activity log, which users can filter by. */
export const ACTIVITY_KINDS = [
  'sign_in',
  'security',
  'account',
  'app',
  'organization',
  'administration',
] as const;

export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

interface ActionInfo {
  readonly kind: ActivityKind;
  /** Whether the entry offers "This was not me", because somebody else may have used the account. */
  readonly isDisputable?: true;
  /**
   * Whether its changes are about a person: tenants do not see them, and they go when the person is deleted. The trigger
   * `pseudonymize_activity` names these actions too.
   */
  readonly isPersonal?: true;
}

const disputable = (kind: ActivityKind) => ({ kind, isDisputable: true }) as const;
const personal = (kind: ActivityKind) => ({ ...disputable(kind), isPersonal: true }) as const;
/** What only commands do. */
const byCommand = { kind: 'administration' } as const;

/**
 * The actions of the activity log. A new one also needs a text in each language, in
 * `pages/texts/account/<language>/actions.ts`.
 */
export const actions = {
  login: disputable('sign_in'),
  login_failed: disputable('sign_in'),
  logout: { kind: 'sign_in' },
  logout_all: disputable('sign_in'),
  logout_others: disputable('sign_in'),
  session_revoked: disputable('sign_in'),
  token_reused: disputable('sign_in'),
  reauthenticated: disputable('sign_in'),
  reauthentication_failed: disputable('sign_in'),
  device_trusted: disputable('sign_in'),
  device_untrusted: disputable('sign_in'),
  device_renamed: personal('sign_in'),
  device_revoked: disputable('sign_in'),
  impersonated: { kind: 'sign_in' },

  password_changed: disputable('security'),
  password_reset: disputable('security'),
  password_reset_requested: disputable('security'),
  two_factor_enabled: disputable('security'),
  two_factor_disabled: disputable('security'),
  two_factor_failed: disputable('security'),
  two_factor_removed: { kind: 'security' },
  recovery_code_used: disputable('security'),
  recovery_codes_replaced: disputable('security'),
  pin_set: disputable('security'),
  pin_changed: disputable('security'),
  pin_disabled: disputable('security'),
  pin_failed: disputable('security'),
  pin_removed: { kind: 'security' },
  activity_disputed: { kind: 'security' },

  registered: { kind: 'account' },
  email_verified: { kind: 'account' },
  email_changed: personal('account'),
  address_changed: disputable('account'),
  address_disowned: { kind: 'account' },
  email_change_requested: disputable('account'),
  email_change_canceled: disputable('account'),
  email_restored: personal('account'),
  profile_updated: personal('account'),
  picture_changed: disputable('account'),
  picture_removed: disputable('account'),
  data_exported: disputable('account'),
  account_deletion_requested: disputable('account'),
  account_deletion_canceled: disputable('account'),
  account_deletion_refused: { kind: 'account' },
  account_deleted: { kind: 'account' },

  application_allowed: disputable('app'),
  application_withdrawn: disputable('app'),
  application_signed_out: disputable('app'),
  application_token_reused: disputable('app'),

  tenant_switched: { kind: 'organization' },
  tenant_left: disputable('organization'),
  invitation_accepted: disputable('organization'),
  member_invited: disputable('organization'),
  invitation_withdrawn: disputable('organization'),
  member_added: disputable('organization'),
  member_updated: disputable('organization'),
  member_removed: disputable('organization'),
  role_created: disputable('organization'),
  role_updated: disputable('organization'),
  role_deleted: disputable('organization'),
  service_account_created: disputable('organization'),
  service_account_updated: disputable('organization'),
  service_account_deleted: disputable('organization'),
  api_key_created: disputable('organization'),
  api_key_rotated: disputable('organization'),
  api_key_revoked: disputable('organization'),

  tenant_created: disputable('administration'),
  tenant_suspended: disputable('administration'),
  tenant_activated: disputable('administration'),
  tenant_retried: disputable('administration'),
  tenant_deleted: disputable('administration'),
  tenant_config_synced: disputable('administration'),
  tenant_versions_updated: disputable('administration'),
  tenant_scaling_updated: disputable('administration'),
  tenant_scaling_reset: disputable('administration'),
  user_updated: personal('administration'),
  user_deactivated: personal('administration'),
  administrator_made: disputable('administration'),
  administrator_unmade: disputable('administration'),
  impersonation_started: disputable('administration'),
  client_created: byCommand,
  client_updated: byCommand,
  client_disabled: byCommand,
  client_enabled: byCommand,
  client_deleted: byCommand,
  client_secret_rotated: byCommand,
  signing_key_rotated: byCommand,
  signing_key_retired: byCommand,
  secrets_resealed: byCommand,
  accounts_seeded: byCommand,
  user_exported: byCommand,
  tenant_exported: byCommand,
} as const satisfies Record<string, ActionInfo>;

/** The name of an action. */
export type Action = keyof typeof actions;

const infos: Readonly<Record<Action, ActionInfo>> = actions;

const isAction = (name: string): name is Action => Object.hasOwn(actions, name);

/** Information about the action of an entry; null for an action that no longer exists. */
export const actionOf = (name: string): (ActionInfo & { readonly name: Action }) | null =>
  isAction(name) ? { ...infos[name], name } : null;

/** The actions of a category. */
export const actionsOfKind = (kind: ActivityKind): Action[] =>
  Object.keys(actions)
    .filter(isAction)
    .filter((name) => infos[name].kind === kind);

/** The actions whose changes are about a person. */
export const personalActions: readonly Action[] = Object.keys(actions)
  .filter(isAction)
  .filter((name) => infos[name].isPersonal);
