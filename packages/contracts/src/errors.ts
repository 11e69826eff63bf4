/** The stable machine codes in `error` of a failure, and what each says. OAuth errors are those of RFC 6749. */
export const errorCodes = {
  malformed_body: 'The body is not well-formed JSON in UTF-8.',
  malformed_path: 'The path is not well-formed.',
  unauthenticated: 'There is no token, or it is expired, revoked or not genuine.',
  invalid_credentials: 'The e-mail address or the password is wrong.',
  two_factor_required: 'The sign-in waits for its second factor.',
  pin_required: 'The session is locked until the PIN is verified.',
  password_change_required: 'The password has to be changed first.',
  permission_denied: 'No policy allows this, or one denies it.',
  service_account_scope_denied: 'The scopes of the token do not cover this.',
  tenant_forbidden: 'The caller does not belong to this tenant.',
  tenant_suspended: 'The tenant is suspended.',
  folder_access_denied: 'The caller has no access to this folder.',
  not_found: 'There is no such thing, or the caller may not know of it.',
  method_not_allowed: 'The path exists and does not take this method.',
  conflict: 'The state that it is in does not allow this.',
  precondition_failed: 'Someone changed it since it was read.',
  body_too_large: 'The body is too large.',
  unsupported_media_type: 'The content type is not one that this takes.',
  validation_failed: 'Some of what was sent does not fit; `errors` names each field.',
  token_reused:
    'A token that was already replaced was presented: every token of the user is revoked.',
  rate_limited: 'Too many requests; `Retry-After` says when to come back.',
  internal_error: 'Something went wrong on the side of the service.',
  deployment_automation_failed: 'Deployment automation did not do it; nothing was changed.',
  deployment_automation_not_configured: 'There is no deployment automation; nothing was changed.',
  identity_unavailable: 'Identity does not answer. The token may well be good: do not sign out.',
  overloaded: 'Too much is under way; `Retry-After` says when to come back.',
  not_ready: 'The service is not ready to answer.',
} as const;

export type ErrorCode = keyof typeof errorCodes;
