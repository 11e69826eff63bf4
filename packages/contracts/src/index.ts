export {
  MAX_PATTERN_LENGTH,
  type Policies,
  PoliciesMeta,
  PolicyPayload,
  parsePolicies,
} from './caller/policies.ts';
export {
  createPrincipal,
  MAX_SCOPES,
  type Principal,
  PrincipalPayload,
  PrincipalTenant,
  parsePrincipal,
} from './caller/principal.ts';
export {
  type PrincipalRights,
  PrincipalRightsPayload,
  parsePrincipalRights,
  principalType,
} from './caller/principal-rights.ts';
export { crmAsyncapiDocument, platformAsyncapiDocument } from './crm-events/asyncapi.ts';
export {
  type CrmEvent,
  CrmEventData,
  crmEvent,
  crmEventKey,
  parseCrmEvent,
  type ReceivedCrmEvent,
} from './crm-events/event.ts';
export {
  type CrmEventResource,
  type CrmEventType,
  crmEventResourceNames,
  crmEventResources,
  crmEventTypes,
  crmEventTypesOf,
  crmTopicOf,
  type EventVerb,
  type HistoryAction,
  verbOf,
} from './crm-events/resources.ts';
export { Deployment, type DeploymentPayload, pullRequestOf } from './deployment.ts';
export { type ErrorCode, errorCodes, isErrorCode, oauthErrorCodes } from './errors.ts';
export { asyncapiDocument, deadLetterTopic } from './events/asyncapi.ts';
export {
  eventKey,
  type IdentityEvent,
  identityEvent,
  type ParsedEvent,
  parseEvent,
} from './events/event.ts';
export {
  type EventData,
  type EventType,
  eventTypes,
  MAX_NAMED_USERS,
  type RevocationTarget,
  revocationTarget,
} from './events/kinds.ts';
export {
  type CrmPermission,
  crmPermission,
  crmPermissions,
  servicePermission,
} from './permissions/crm.ts';
export {
  type IdentityPermission,
  isSystemPermission,
  type SystemPermission,
  systemPermissions,
  type TenantPermission,
  tenantPermissions,
} from './permissions/identity.ts';
export {
  type Permission,
  PermissionRegistry,
  type ServicePermissions,
  type UnknownPattern,
} from './permissions/registry.ts';
export {
  type BuiltInRole,
  type BuiltInRoleName,
  builtInRoles,
  builtInRolesRevision,
} from './permissions/roles.ts';
export {
  accountChange,
  accountTest,
  type Channel,
  EmailAccount,
  EmailAccountInput,
  type EmailAccountPayload,
  EmailTestInput,
  SentMessage,
  SmsAccount,
  SmsAccountInput,
  type SmsAccountPayload,
  SmsTestInput,
} from './system/accounts.ts';
export { FileUsage, StorageUsage, type StorageUsagePayload } from './system/storage-usage.ts';
export {
  type TenantClient,
  tenantClient,
  tenantClientId,
  tenantRedirectUri,
} from './tenant-client.ts';
