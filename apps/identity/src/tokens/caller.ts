import type { Policy } from '@tessera/scope-matcher';
import type { TokenUse } from './access-token.ts';

export interface CallerTenant {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly isActive: boolean;
}

/**
 * Whose client a token was issued to (decision I19): the platform's own, a tenant's, or anybody else's.
 * Tokens that were issued without a client (sign-ins, API keys) are `first_party`.
 */
export type ClientKind = 'first_party' | 'tenant' | 'third_party';

interface Credential {
  /** The `jti` of a signed token, or the SHA-256 of an opaque one in hexadecimal. */
  readonly tokenId: string;
  readonly clientId: string;
  /** Patterns that limit the token, whoever holds it. Absent: no limit. */
  readonly scopes?: readonly string[];
  readonly expiresAt: Date;
}

/**
 * What a user has to do before anything else is served, as the error code of what is refused meanwhile:
 * the second factor (decision I2), the PIN (I3), confirming the address (I21), a new password (I6).
 */
export type Restriction =
  | 'two_factor_required'
  | 'pin_required'
  | 'email_verification_required'
  | 'password_change_required';

/** A person or a service account: whoever stands in the table of users. */
export interface UserCaller extends Credential {
  readonly type: 'user' | 'service_account';
  readonly id: string;
  readonly email: string | null;
  readonly firstName: string;
  readonly lastName: string;
  /** The language that they read. */
  readonly locale: string;
  /** IANA name. */
  readonly timeZone: string;
  /**
   * Whether the caller acts with the rights of a system administrator. Only a token of a first-party client
   * carries them: false for an administrator who uses any other client.
   */
  readonly isSystemAdmin: boolean;
  readonly clientKind: ClientKind;
  /** The session that the token hangs on; service accounts have none. */
  readonly sessionId: string | null;
  readonly tokenUse: TokenUse;
  /** Most routes are shut until it is lifted. */
  readonly restriction: Restriction | null;
  /** The cookie of the web session outlives the browser; absent where it is not a cookie that tells who calls. */
  readonly isRemembered?: boolean;
  /**
   * The token was exchanged for another one: presented again, it says that somebody has a copy, and nothing
   * about who calls. Only where tokens are renewed; absent everywhere else.
   */
  readonly isReplaced?: boolean;
  /** The administrator who acts as this user. */
  readonly impersonatorId: string | null;
  /** The token's tenant, which decides everywhere. */
  readonly tenant: CallerTenant | null;
  /**
   * Every tenant that they are a member of, by slug. With a tenant's or a third-party client: the token's
   * tenant alone.
   */
  readonly tenants: readonly CallerTenant[];
  /** What role and membership give in the token's tenant. */
  readonly policies: readonly Policy[];
  /** Of the token's tenant; null where there is none. */
  readonly policiesVersion: number | null;
}

/** A system application with a token of the client-credentials grant; its scopes are its rights. */
export interface ClientCaller extends Credential {
  readonly type: 'client';
  /** The client id. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

/** Who is calling, as the token and its record tell: complete, from one read. */
export type Caller = UserCaller | ClientCaller;
