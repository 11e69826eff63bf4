import type { Policy } from '@tessera/scope-matcher';
import type { TokenUse } from './access-token.ts';

export interface CallerTenant {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  /** It can be used only while it is `active`. */
  readonly status: string;
}

/**
 * The kind of client that a token was issued to (decision I19): the platform's, a tenant's, or a third party's.
 * Tokens that are issued without a client (sign-ins, API keys) are `first_party`.
 */
export type ClientKind = 'first_party' | 'tenant' | 'third_party';

interface Credential {
  /** The `jti` of a signed token, or the SHA-256 of an opaque one in hexadecimal. */
  readonly tokenId: string;
  readonly clientId: string;
  /** Patterns that limit what the token can do. Absent: no limit. */
  readonly scopes?: readonly string[];
  readonly expiresAt: Date;
}

/**
 * What a user has to do first, as the error code of other requests until then: the second factor (decision I2),
 * the PIN (I3), confirming the address (I21), a new password (I6).
 */
export type Restriction =
  | 'two_factor_required'
  | 'pin_required'
  | 'email_verification_required'
  | 'password_change_required';

/** A person or a service account, from the table of users. */
export interface UserCaller extends Credential {
  readonly type: 'user' | 'service_account';
  readonly id: string;
  readonly email: string | null;
  readonly firstName: string;
  readonly lastName: string;
  /** The language of the user. */
  readonly locale: string;
  /** IANA name. */
  readonly timeZone: string;
  /** Whether the caller has the rights of a system administrator: only with tokens of first-party clients. */
  readonly isSystemAdmin: boolean;
  readonly clientKind: ClientKind;
  /** The session of the token; service accounts have none. */
  readonly sessionId: string | null;
  readonly tokenUse: TokenUse;
  /** Null if nothing is pending; otherwise most routes are refused. */
  readonly restriction: Restriction | null;
  /** Whether the cookie outlives the browser; absent unless the caller was authenticated by the cookie. */
  readonly isRemembered?: boolean;
  /**
   * Whether the token was already replaced by a renewal, so that its use indicates a stolen copy. Only set when
   * tokens are renewed.
   */
  readonly isReplaced?: boolean;
  /** The administrator who acts as this user. */
  readonly impersonatorId: string | null;
  /** The token's tenant, which all permissions refer to. */
  readonly tenant: CallerTenant | null;
  /** All tenants of the user, by slug. With a tenant's or a third-party client, the token's tenant only. */
  readonly tenants: readonly CallerTenant[];
  /** The policies of role and membership in the token's tenant. */
  readonly policies: readonly Policy[];
  /** The policy version of the token's tenant; null without one. */
  readonly policiesVersion: number | null;
}

/** A system application with a client-credentials token; its scopes are its permissions. */
export interface ClientCaller extends Credential {
  readonly type: 'client';
  /** The client id. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

/** The authenticated caller of a request. */
export type Caller = UserCaller | ClientCaller;
