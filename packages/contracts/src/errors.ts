/**
 * The codes of the OAuth endpoints (RFC 6749 sections 4.1.2.1 and 5.2, RFC 7009 section 2.2.1, RFC 8707 section 2,
 * RFC 6750 section 3.1, OpenID Connect Core section 3.1.2.6), and what each means.
 */
export const oauthErrorCodes = {
  invalid_request: 'A parameter is missing, repeated, unknown or malformed.',
  invalid_client: 'The client is unknown, or its authentication failed.',
  invalid_grant:
    'The code, token or other grant is invalid, expired, revoked or of another client.',
  unauthorized_client: 'The client may not use this grant or response type.',
  unsupported_grant_type: 'The grant type is not supported.',
  unsupported_response_type: 'The response type is not supported.',
  unsupported_token_type: 'The type of the token is not supported here.',
  invalid_scope: 'A scope is unknown, malformed, or beyond what the client may have.',
  invalid_redirect_uri: 'The redirect URI is not registered for the client.',
  invalid_target: 'The resource is unknown or malformed.',
  invalid_token: 'The token is expired, revoked or malformed.',
  access_denied: 'The user or the server refused the request.',
  login_required: 'The user has to sign in.',
  consent_required: 'The user has to consent.',
  interaction_required: 'The user has to do something first.',
  server_error: 'Something went wrong on the side of the service.',
  temporarily_unavailable: 'The service cannot answer now.',
} as const;

/** The stable codes in the member `error` of a failure, and what each means. */
export const errorCodes = {
  ...oauthErrorCodes,
  malformed_request: 'The request is not well-formed HTTP.',
  headers_too_large: 'The headers of the request are too large.',
  request_timeout: 'The request did not arrive in time.',
  expectation_failed: 'The request expects something that the server does not support.',
  malformed_body: 'The body is not well-formed JSON in UTF-8.',
  malformed_address: 'The address is not well-formed UTF-8.',
  unauthenticated: 'There is no token, or it is expired, revoked or not genuine.',
  invalid_credentials: 'The e-mail address or the password is wrong.',
  forged_request: 'The form was not sent by a page of ours, or the page is too old.',
  two_factor_required: 'The sign-in waits for its second factor.',
  pin_required: 'The session is locked until the PIN is verified.',
  email_verification_required: 'The email address of the account has to be confirmed first.',
  password_change_required: 'The password has to be changed first.',
  permission_denied: 'No policy allows this, or one denies it.',
  service_account_scope_denied: 'The scopes of the token do not cover this.',
  insufficient_scope: "The token's scopes do not allow this.",
  impersonation_forbidden:
    'This is not allowed while impersonating, or the user cannot be impersonated.',
  first_party_required:
    'Only first-party applications, and the account pages, may do this for the user.',
  reauthentication_required: 'This needs a recent sign-in: authenticate again first.',
  invitation_forbidden: 'The invitation is for another account than the one that is signed in.',
  tenant_forbidden: 'The caller does not belong to this tenant.',
  tenant_suspended: 'The tenant is suspended.',
  member_holds_more: 'The member holds more than the caller, who may not change them.',
  role_holds_more:
    'The role, or somebody who has it, holds more than the caller, who may not change it.',
  role_built_in: 'The role is the same in every tenant and cannot be changed.',
  role_in_use: 'Members have the role: give them another one first.',
  user_required: 'Only a user can do this; the caller is a client application.',
  project_role_required: "The caller's role in the private project does not allow this.",
  own_leave_request: 'Nobody approves or rejects a leave request of their own.',
  not_the_owner: 'Only the owner of the record can do this.',
  folder_access_denied: 'The caller has no access to this folder.',
  not_found: 'There is no such thing, or the caller may not know of it.',
  method_not_allowed: 'The path exists and does not take this method.',
  conflict: 'The state that it is in does not allow this.',
  address_taken: 'Another account has this email address.',
  last_administrator: 'The system would be left without an administrator.',
  last_owner: 'The tenant would be left without an owner.',
  idempotency_key_in_use: 'A request with the same Idempotency-Key is still running.',
  idempotency_key_reused: 'The Idempotency-Key was used for another request.',
  precondition_failed: 'Someone changed it since it was read.',
  body_too_large: 'The body is too large.',
  unsupported_media_type: 'The content type is not one that this takes.',
  validation_failed: 'Some of what was sent does not fit; `errors` names each field.',
  token_reused:
    'A token that was already replaced was presented: every token of the user is revoked.',
  range_not_satisfiable: 'The range is outside of the file; `Content-Range` tells its size.',
  rate_limited: 'Too many requests; `Retry-After` says when to come back.',
  internal_error: 'Something went wrong on the side of the service.',
  deployment_automation_failed: 'Deployment automation failed or refused; nothing was changed.',
  deployment_automation_not_configured: 'There is no deployment automation; nothing was changed.',
  crm_not_configured: 'There is no CRM that identity could ask.',
  crm_unavailable: 'CRM does not answer; `Retry-After` says when to come back.',
  crm_failed: 'CRM answered with something that cannot be used.',
  identity_unavailable: 'Identity does not answer. The token may well be good: do not sign out.',
  database_unavailable: 'The database does not answer; `Retry-After` says when to come back.',
  overloaded: 'Too much is under way; `Retry-After` says when to come back.',
  not_ready: 'The service is not ready to answer.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Whether a text is one of the registered codes. */
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorCodes, code);
