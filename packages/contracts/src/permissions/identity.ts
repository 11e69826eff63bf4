/** Granted by the policies of a role or a membership, within its tenant. */
export const tenantPermissions = {
  'identity.users.create': 'Register a person as a member of the tenant',
  'identity.members.list': 'List the members',
  'identity.members.view': 'See a member',
  'identity.members.create': 'Invite a member, and withdraw an invitation',
  'identity.members.update': 'Change the role and the policies of a member',
  'identity.members.delete': 'Remove a member',
  'identity.roles.list': 'List the roles',
  'identity.roles.view': 'See a role',
  'identity.roles.create': 'Create a role',
  'identity.roles.update': 'Change a role',
  'identity.roles.delete': 'Delete a role',
  'identity.permissions.list': 'List the permissions that exist',
  'identity.service_accounts.list': 'List the service accounts',
  'identity.service_accounts.view': 'See a service account',
  'identity.service_accounts.create': 'Create a service account',
  'identity.service_accounts.update': 'Change a service account',
  'identity.service_accounts.delete': 'Delete a service account and revoke its keys',
  'identity.api_keys.list': 'List the API keys of a service account',
  'identity.api_keys.create': 'Create and rotate an API key',
  'identity.api_keys.revoke': 'Revoke an API key',
  'identity.activity.list': "List the activity of the tenant's members",
  'identity.email_accounts.list': 'List the e-mail accounts',
  'identity.email_accounts.view': 'See an e-mail account',
  'identity.email_accounts.create': 'Create an e-mail account',
  'identity.email_accounts.update': 'Change an e-mail account',
  'identity.email_accounts.delete': 'Delete an e-mail account',
  'identity.sms_accounts.list': 'List the SMS accounts',
  'identity.sms_accounts.view': 'See an SMS account',
  'identity.sms_accounts.create': 'Create an SMS account',
  'identity.sms_accounts.update': 'Change an SMS account',
  'identity.sms_accounts.delete': 'Delete an SMS account',
} as const;

/**
 * Granted to system administrators, and to system applications whose scopes cover them. A policy in a tenant never
 * grants them, not even `*` (decision I12).
 */
export const systemPermissions = {
  'identity.tenants.list': 'List the tenants',
  'identity.tenants.view': 'See a tenant',
  'identity.tenants.create': 'Create a tenant',
  'identity.tenants.delete': 'Delete a tenant',
  'identity.tenants.suspend': 'Suspend a tenant',
  'identity.tenants.activate': 'Activate a tenant',
  'identity.tenants.retry': 'Retry the provisioning of a tenant',
  'identity.tenants.sync_config': 'Send the configuration of a tenant to deployment automation',
  'identity.tenants.provisioning.view': 'See the progress of the provisioning of a tenant',
  'identity.tenants.storage.view': 'See how much storage a tenant uses',
  'identity.tenants.versions.update': 'Set the versions that a tenant runs',
  'identity.tenants.scaling.view': 'See the scaling configuration of a tenant',
  'identity.tenants.scaling.update': 'Change the scaling configuration of a tenant',
  'identity.tenants.scaling.delete': "Return a tenant to its plan's scaling configuration",
  'identity.tenants.services.list': 'List the services of all tenants',
  'identity.principals.view': 'See what any principal may do in any tenant',
  'identity.service_health.view': 'See whether the services are healthy',
  'identity.users.list': 'List the users of the platform',
  'identity.users.view': 'See a user of the platform',
  'identity.users.update': 'Change a user of the platform',
  'identity.users.activity.list': 'List and export the activity of all users',
  'identity.users.set_system_admin': 'Make a user a system administrator, or no longer one',
  'identity.users.impersonate': 'Act as another user for an hour',
} as const;

export type TenantPermission = keyof typeof tenantPermissions;
export type SystemPermission = keyof typeof systemPermissions;
export type IdentityPermission = TenantPermission | SystemPermission;

/** Whether a permission is one that no policy in a tenant can grant. */
export const isSystemPermission = (permission: string): permission is SystemPermission =>
  Object.hasOwn(systemPermissions, permission);
