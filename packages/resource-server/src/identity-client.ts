import type { JsonWebKey } from 'node:crypto';
import {
  type ErrorCode,
  isErrorCode,
  type Policies,
  type Principal,
  type PrincipalRights,
  parsePolicies,
  parsePrincipal,
  parsePrincipalRights,
} from '@tessera/contracts';
import { boundedFetch } from '@tessera/outbound-http';

/** The result of a request to identity. A caller is rejected only if identity itself rejects them. */
export type IdentityResult<T> =
  | { readonly outcome: 'answered'; readonly value: T }
  /** 401: the token is not, or no longer, valid. */
  | { readonly outcome: 'rejected' }
  /** 403: identity refuses the caller; the code is identity's. */
  | { readonly outcome: 'forbidden'; readonly code: ErrorCode; readonly message: string }
  /** 429: `retryAfter` is in seconds, or an HTTP date. */
  | { readonly outcome: 'throttled'; readonly retryAfter: string }
  /** No answer within the time limit, or one that is malformed. */
  | { readonly outcome: 'unavailable'; readonly cause: unknown };

/** A principal who is not present, and the tenant in which it would act. */
export interface AbsentPrincipal {
  readonly tenantId: string;
  /** The id of a user, or of a client. */
  readonly id: string;
  readonly type: Principal['type'];
  /** The API key that a service account acted with: it must still be valid, and its scopes limit the rights. */
  readonly tokenId?: string | null;
}

/** An access token of the service's own client. */
export interface ClientToken {
  readonly token: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/** The service's own client at identity. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

export interface IdentityClient {
  /** `GET /api/user` for the presented token; `tenant` is the slug in `X-Tenant`. */
  principal(token: string, tenant?: string): Promise<IdentityResult<Principal>>;
  /** `GET /api/policies`: the caller's effective policies in the token's tenant. */
  policies(token: string): Promise<IdentityResult<Policies>>;
  /** A token for the service itself (RFC 6749 section 4.4); rejected if the client is unknown or disabled. */
  clientToken(client: ClientCredentials, scope: string): Promise<IdentityResult<ClientToken>>;
  /** What a principal may do now, asked with a token of the service itself; `inactive` if it cannot act. */
  rights(
    principal: AbsentPrincipal,
    token: string,
  ): Promise<IdentityResult<PrincipalRights | 'inactive'>>;
  /** The keys that identity signs with (RFC 7517). */
  keys(): Promise<IdentityResult<readonly JsonWebKey[]>>;
}

export interface IdentityClientOptions {
  readonly url: string;
  /** Time limit for the whole answer, including its body. */
  readonly timeoutMs: number;
}

/** The largest answer that is accepted, in bytes: enough for 10,000 policies or tenants with the longest names. */
const BODY_LIMIT = 16 * 1024 * 1024;

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
};

const textOf = (body: unknown, key: string, pattern: RegExp): string | undefined => {
  const value = (body as Readonly<Record<string, unknown>> | undefined | null)?.[key];
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
};

/** The error code of a refusal; unknown codes, which a newer identity may send, become `permission_denied`. */
const errorCodeOf = (body: unknown): ErrorCode => {
  const { error } = Object(body) as { readonly error?: unknown };
  return isErrorCode(error) ? error : 'permission_denied';
};

const retryAfter = (response: Response): string => {
  const value = response.headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(value) || /GMT$/.test(value) ? value : '1';
};

const answerOf = async <T>(
  response: Response,
  parse: (body: unknown) => T | null,
): Promise<IdentityResult<T>> => {
  if (response.status === 429) {
    return { outcome: 'throttled', retryAfter: retryAfter(response) };
  }
  // A refusal must be complete JSON: proxies have 401 pages of their own.
  const body = await readJson(response);
  if (response.status === 401) return { outcome: 'rejected' };
  if (response.status === 403) {
    return {
      outcome: 'forbidden',
      code: errorCodeOf(body),
      message: textOf(body, 'message', /^.{1,300}$/) ?? 'Identity refuses the request.',
    };
  }
  const value = response.status === 200 ? parse(body) : null;
  if (value !== null) return { outcome: 'answered', value };
  throw new Error(`Identity answered ${response.status} with an unexpected body.`);
};

const parseKeys = (body: unknown): readonly JsonWebKey[] | null => {
  const keys = (body as { keys?: unknown } | null | undefined)?.keys;
  if (!Array.isArray(keys)) return null;
  return keys.filter((key) => typeof key === 'object' && key !== null);
};

const parseClientToken = (body: unknown): ClientToken | null => {
  const { access_token: token, expires_in: expiresIn } = Object(body) as Record<string, unknown>;
  const isValid = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  return isValid && typeof expiresIn === 'number' ? { token, expiresIn } : null;
};

const rightsPath = ({ tenantId, id, type, tokenId }: AbsentPrincipal): string => {
  const query = new URLSearchParams({ id, type });
  // Tokens of people end when they are renewed, which says nothing about their rights.
  if (type === 'service_account' && tokenId) query.set('token_id', tokenId);
  return `/api/tenants/${tenantId}/rights?${query}`;
};

/** Creates a client of identity that reuses connections, follows no redirects, and never throws. */
export const createIdentityClient = ({ url, timeoutMs }: IdentityClientOptions): IdentityClient => {
  const base = url.replace(/\/+$/, '');
  const ask = boundedFetch({ timeoutMs, maxBytes: BODY_LIMIT });
  const send = async <T>(
    path: string,
    parse: (body: unknown) => T | null,
    request: RequestInit,
  ): Promise<IdentityResult<T>> => {
    try {
      return await answerOf(await ask(new Request(base + path, request)), parse);
    } catch (cause) {
      return { outcome: 'unavailable', cause };
    }
  };
  const get = <T>(
    path: string,
    parse: (body: unknown) => T | null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IdentityResult<T>> =>
    send(path, parse, { headers: { accept: 'application/json', ...headers } });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  return {
    principal: (token, tenant) =>
      get('/api/user', parsePrincipal, {
        ...bearer(token),
        ...(tenant !== undefined && { 'x-tenant': tenant }),
      }),
    policies: (token) => get('/api/policies', parsePolicies, bearer(token)),
    clientToken: ({ id, secret }, scope) =>
      send('/api/oauth/token', parseClientToken, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: id,
          client_secret: secret,
          scope,
        }),
      }),
    rights: (principal, token) => get(rightsPath(principal), parsePrincipalRights, bearer(token)),
    keys: () => get('/.well-known/jwks.json', parseKeys),
  };
};
