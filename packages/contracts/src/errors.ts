/**
 * The codes of the OAuth endpoints (RFC 6749 sections 4.1.2.1 and 5.2, RFC 7009 section 2.2.1, RFC 8707 section 2,
 * RFC 6750 section 3.1, OpenID Connect Core section 3.1.2.6), and what each means.
 */
export const oauthErrorCodes = {
  invalid_request: 'A parameter is missing, repeated, unknown or malformed.',
  invalid_client: 'The client is unknown, or its authentication failed.',
  invalid_grant:
    'The code, token or other grant is invalid, expired, revoked or of another client.',
  unauthorized_client:
    'The client may not use this grant or response type, or the token belongs to another client.',
  unsupported_grant_type: 'The grant type is not supported.',
  unsupported_response_type: 'The response type is not supported.',
  unsupported_token_type: 'The type of the token is not supported here.',
  invalid_scope: 'A scope is unknown, malformed, or beyond what the client may have.',
  invalid_redirect_uri: 'The redirect URI is not registered for the client.',
  invalid_target: 'The resource is unknown or malformed.',
  invalid_token: 'The token is expired, revoked or malformed.',
  access_denied: 'The user or the server refused the request.',
  login_required: 'The user must sign in.',
  consent_required: 'The user must consent.',
  interaction_required: 'The user must complete a step first.',
  server_error: 'An internal error occurred.',
  temporarily_unavailable: 'The service is temporarily unavailable.',
} as const;

/** The stable codes in the member `error` of a failure, and what each means. */
export const errorCodes = {
  ...oauthErrorCodes,
  malformed_request: 'The request is not well-formed HTTP.',
  headers_too_large: 'The headers of the request are too large.',
  request_timeout: 'The request did not arrive in time.',
  expectation_failed: 'The request contains an expectation that the server does not support.',
  malformed_body: 'The body is not well-formed JSON in UTF-8.',
  malformed_address: 'The URL is not valid UTF-8.',
  unauthenticated: 'The token is missing, expired, revoked or not genuine.',
  invalid_credentials: 'The e-mail address or the password is wrong.',
  forged_request: 'The form was not sent by a page of this service, or the page is too old.',
  cross_origin_forbidden:
    'Scripts and documents of other origins cannot load this page; browsers can open it.',
  two_factor_required: 'The sign-in requires a second factor.',
  pin_required: 'The session is locked until the PIN is verified.',
  email_verification_required: 'The email address of the account must be confirmed first.',
  password_change_required: 'The password must be changed first.',
  permission_denied: 'No policy allows this, or one denies it.',
  service_account_scope_denied: "The token's scopes do not include this.",
  insufficient_scope: "The token's scopes do not allow this.",
  impersonation_forbidden:
    'This is not allowed while impersonating, or the user cannot be impersonated.',
  first_party_required: 'Only first-party applications and the account pages may do this.',
  reauthentication_required: 'This requires a recent authentication. Authenticate again first.',
  invitation_forbidden: 'The invitation is for another account than the one that is signed in.',
  tenant_forbidden: 'The caller does not belong to this tenant.',
  tenant_suspended: 'The tenant is suspended.',
  member_holds_more:
    'The member has permissions that the caller lacks, so the caller may not change them.',
  role_holds_more:
    'The role, or a member with it, has permissions that the caller lacks, so the caller may not change it or withdraw an invitation to it.',
  role_built_in: 'The role is the same in every tenant and cannot be changed.',
  role_in_use: 'Members have the role. Assign them another one first.',
  user_required: 'Only a user can do this; the caller is a client application.',
  project_role_required: "The caller's role in the private project does not allow this.",
  channel_role_required: "The caller's role in the private channel does not allow this.",
  not_the_author: 'Only the author of the message can do this.',
  own_leave_request: 'Users may not approve or reject their own leave requests.',
  not_the_owner: 'Only the owner of the record can do this.',
  folder_access_denied: 'The caller has no access to this folder.',
  has_references:
    'Other records refer to the record; `references` has their numbers, and `?force=true` deletes it nevertheless.',
  folder_not_empty: 'The folder is not empty; `?force=true` deletes what is in it as well.',
  upload_expired: 'The unfinished upload has expired, and its bytes are deleted. Start a new one.',
  upload_busy:
    'Another request is completing the upload. Request its offset later, and continue from there.',
  scan_pending: 'The file is being scanned for malware. It is served if none is found.',
  file_quarantined: 'The file contains malware and is not served.',
  file_unscannable: 'The file exceeds a limit of the malware scanner and is not served.',
  not_found: 'The resource does not exist, or the caller may not see it.',
  method_not_allowed: 'The path does not support this method.',
  conflict: 'The current state of the resource does not allow this.',
  address_taken: 'Another account has this email address.',
  last_administrator: 'The system would be left without an administrator.',
  last_owner: 'The tenant or the channel would be left without an owner.',
  recall_expired:
    'The time in which the message could be recalled, a setting of the tenant, is over.',
  idempotency_key_in_use: 'A request with the same Idempotency-Key is still running.',
  idempotency_key_reused: 'The Idempotency-Key was used for another request.',
  precondition_failed: 'The resource has changed since it was read.',
  body_too_large: 'The body is too large.',
  storage_quota_exceeded:
    'The files of the tenant would exceed their quota; `bytes_left` is what it has left.',
  unsupported_media_type: 'The operation does not accept this content type.',
  validation_failed: 'The input is invalid; `errors` names every invalid field.',
  token_reused:
    'A token that had been replaced was presented, so all tokens of the user were revoked.',
  range_not_satisfiable: 'The range is outside the file; `Content-Range` contains its size.',
  rate_limited: 'Too many requests; `Retry-After` is the number of seconds to wait.',
  too_many_jobs:
    'Too many background jobs of one kind wait for the tenant; `details` says the kind and the limit.',
  too_many_streams: 'The caller has too many open event streams.',
  too_many_uploads:
    'Too many uploads are under way or unfinished; `limit` is the setting or the rule that limits them, and `max_uploads` its value.',
  too_many_downloads:
    'The tenant has its share of the downloads that the service sends at the same time; `downloads` is their number.',
  removed_from_channel: 'The user no longer participates in the channel.',
  stream_too_slow: 'The client read the event stream too slowly.',
  internal_error: 'An internal error occurred.',
  deployment_automation_failed:
    'Deployment automation failed or rejected the request; nothing was changed.',
  deployment_automation_not_configured:
    'No deployment automation is configured; nothing was changed.',
  crm_not_configured: 'No CRM is configured in identity.',
  crm_unavailable: 'CRM is unavailable; `Retry-After` is the number of seconds to wait.',
  crm_failed: 'CRM sent an invalid response.',
  identity_client_not_configured:
    'The feature requires a client of the service at identity, which is not configured.',
  identity_unavailable:
    'Identity is unavailable. The token may still be valid, so do not sign out.',
  database_unavailable:
    'The database is unavailable; `Retry-After` is the number of seconds to wait.',
  query_timeout:
    'The request took too much time of the database: narrow the search or the filters, or try again after `Retry-After` seconds.',
  storage_full: 'The file store has no room for the file.',
  file_unavailable: 'The file store does not answer, or does not have the file.',
  overloaded: 'The service is overloaded; `Retry-After` is the number of seconds to wait.',
  message_not_sent: 'The mail server or the provider did not accept the message; `step` says why.',
  not_ready: 'The service is not ready to handle requests.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Whether a text is one of the registered codes. */
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorCodes, code);
