import { batched, type FairPool } from '@tessera/database-kit';
import type { Policy } from '@tessera/scope-matcher';
import type { Pool, QueryResult } from 'pg';
import { FIRST_PARTY, type TokenUse } from './access-token.ts';
import type { CallerTenant, ClientCaller, ClientKind, Restriction, UserCaller } from './caller.ts';
import { EFFECTIVE_POLICIES } from './effective-policies.ts';
import { isInUse } from './session-uses.ts';

interface Row {
  readonly token_id: string;
  readonly client_id: string;
  readonly client_kind: ClientKind;
  readonly use: TokenUse;
  /** The key that signed it; null if that was not recorded. */
  readonly kid: string | null;
  readonly scopes: string[] | null;
  readonly session_id: string | null;
  readonly impersonator_id: string | null;
  readonly expires_at: Date;
  readonly tenant_id: string | null;
  readonly user_id: string;
  readonly email: string | null;
  readonly first_name: string;
  readonly last_name: string;
  readonly locale: string;
  readonly timezone: string;
  readonly is_system_admin: boolean;
  readonly is_service_account: boolean;
  readonly force_password_change: boolean;
  readonly is_confirmed: boolean;
  /** Null without a session. */
  readonly pin_pending: boolean | null;
  /** A bigint, as text. */
  readonly version: string | null;
  readonly tenants: CallerTenant[] | null;
  readonly policies: Policy[] | null;
}

const CLIENT_KIND = `CASE WHEN c.client_id IS NULL OR c.is_first_party THEN 'first_party'
  WHEN c.tenant_id IS NOT NULL THEN 'tenant' ELSE 'third_party' END`;

/**
 * The client exists and is enabled, and a tenant's client acts in its own tenant only. Tokens that are issued
 * without a client have no row to join.
 */
const IS_CLIENT_VALID = `(t.client_id = '${FIRST_PARTY}' OR (c.client_id IS NOT NULL
  AND c.disabled_at IS NULL AND (c.tenant_id IS NULL OR c.tenant_id = t.tenant_id)))`;

/**
 * Selects everything about the callers of credentials, in one statement, because it runs on every request. No
 * row if the user is inactive or has left the tenant, or if the client is disabled or deleted.
 */
const callersOf = (credentials: string): string => `
  SELECT t.id AS token_id, t.client_id, ${CLIENT_KIND} AS client_kind, t.use, t.kid, t.scopes, t.session_id, t.impersonator_id, t.expires_at,
    t.tenant_id, u.id AS user_id, u.email, u.first_name, u.last_name, u.is_system_admin,
    u.locale, u.timezone, u.is_service_account, u.force_password_change,
    u.is_service_account OR u.email_verified_at IS NOT NULL AS is_confirmed, s.pin_pending, v.version,
    (SELECT json_agg(json_build_object('id', n.id, 'slug', n.slug, 'name', n.name, 'plan', n.plan,
        'status', n.status) ORDER BY n.slug)
      FROM identity.memberships own JOIN identity.tenants n ON n.id = own.tenant_id
      WHERE own.user_id = u.id) AS tenants,
    ${EFFECTIVE_POLICIES} AS policies
  FROM ${credentials} t
  JOIN identity.users u ON u.id = t.user_id AND u.is_active
  LEFT JOIN identity.oauth_clients c ON c.client_id = t.client_id
  LEFT JOIN identity.sessions s ON s.id = t.session_id
  LEFT JOIN identity.memberships m ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id
  LEFT JOIN identity.policy_versions v ON v.tenant_id = t.tenant_id
  WHERE (t.tenant_id IS NULL OR m.user_id IS NOT NULL) AND ${IS_CLIENT_VALID}`;

/** The callers of recorded tokens. */
const CALLERS = callersOf('identity.tokens');

const IS_CHAIN_ALIVE = 's.ended_at IS NULL AND s.expires_at > now()';

/** An impersonator must still be an administrator. */
const MAY_IMPERSONATE = `(t.impersonator_id IS NULL OR EXISTS (SELECT FROM identity.users a
  WHERE a.id = t.impersonator_id AND a.is_active AND a.is_system_admin))`;

/** The callers of tokens that are not revoked and whose session has not ended. */
const VALID_CALLERS = `${CALLERS} AND t.id = ANY($1::uuid[]) AND t.revoked_at IS NULL
  AND (t.session_id IS NULL OR ${IS_CHAIN_ALIVE}) AND ${MAY_IMPERSONATE}`;

/**
 * Only tokens that can be renewed (decision I4). A replaced token is still found, so that its reuse can be
 * detected.
 */
const RENEWABLE_CALLER = `
  SELECT caller.*, known.replaced_by_id IS NOT NULL AS is_replaced
  FROM (${CALLERS} AND t.id = $1 AND t.use IN ('login', 'switch')
    AND (t.replaced_by_id IS NOT NULL OR (t.revoked_at IS NULL AND ${IS_CHAIN_ALIVE}))) caller
  JOIN identity.tokens known ON known.id = caller.token_id`;

/** A web session that is not idle counts as a token of its own, in the active tenant of its user. */
const SESSION_CALLER = `
  SELECT caller.*, known.is_remembered FROM (${callersOf(`(
  SELECT s.id, '${FIRST_PARTY}' AS client_id, 'login' AS use, NULL::text AS kid, NULL::text[] AS scopes, s.id AS session_id,
    NULL::uuid AS impersonator_id, s.expires_at, s.user_id,
    (SELECT m.tenant_id FROM identity.memberships m WHERE m.user_id = s.user_id
      ORDER BY m.tenant_id IS NOT DISTINCT FROM o.tenant_id DESC, m.created_at LIMIT 1) AS tenant_id
  FROM identity.sessions s JOIN identity.users o ON o.id = s.user_id
  WHERE s.secret_hash = $1 AND ${IS_CHAIN_ALIVE} AND ${isInUse('$2')})`)}) caller
  JOIN identity.sessions known ON known.id = caller.session_id`;

const restrictionOf = (row: Row): Restriction | null => {
  if (row.use === 'two_factor') return 'two_factor_required';
  if (row.pin_pending) return 'pin_required';
  if (!row.is_confirmed) return 'email_verification_required';
  // An administrator who acts as the user cannot change the password.
  const isOneself = row.impersonator_id === null;
  return row.force_password_change && isOneself ? 'password_change_required' : null;
};

/** Tokens of third-party clients are always limited; a missing limit allows nothing. */
const limitOf = ({ client_kind, scopes }: Row): { scopes?: readonly string[] } => {
  if (scopes) return { scopes };
  return client_kind === 'third_party' ? { scopes: [] } : {};
};

const callerOf = (row: Row): UserCaller => {
  const isFirstParty = row.client_kind === 'first_party';
  const memberships = row.tenants ?? [];
  const own = memberships.filter(({ id }) => id === row.tenant_id);
  return {
    type: row.is_service_account ? 'service_account' : 'user',
    id: row.user_id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    locale: row.locale,
    timeZone: row.timezone,
    isSystemAdmin: isFirstParty && row.is_system_admin,
    clientKind: row.client_kind,
    tokenId: row.token_id,
    clientId: row.client_id,
    ...limitOf(row),
    sessionId: row.session_id,
    tokenUse: row.use,
    restriction: restrictionOf(row),
    impersonatorId: row.impersonator_id,
    expiresAt: row.expires_at,
    tenant: own[0] ?? null,
    tenants: isFirstParty ? memberships : own,
    policies: row.policies ?? [],
    policiesVersion: row.version === null ? null : Number(row.version),
  };
};

/** Small enough that database and process can work in parallel. */
const BATCH_SIZE = 16;

/** A signed token: its `jti`, and the key that verified its signature. */
export interface SignedToken {
  readonly jti: string;
  readonly kid: string;
}

/** Whether a token was signed with the key of its record: a stolen key cannot forge others (decision I23). */
const isSignedAsRecorded = ({ kid }: Row, token: SignedToken): boolean =>
  kid === null || kid === token.kid;

/** Finds the user of a recorded token, expired or not; undefined if it is not valid. Concurrent requests share a statement. */
export const usersOfTokens = (
  pool: FairPool,
): ((token: SignedToken) => Promise<UserCaller | undefined>) =>
  batched(async (tokens: readonly SignedToken[]) => {
    const values = [[...new Set(tokens.map(({ jti }) => jti))]];
    const query = { name: 'callers', text: VALID_CALLERS, values };
    // The statement is that of many callers, so none of them waits for the share of another one.
    const { rows }: QueryResult<Row> = await pool.queryFor('authentication', query);
    const good = new Map(rows.map((row) => [row.token_id, { row, caller: callerOf(row) }]));
    return tokens.map((token) => {
      const found = good.get(token.jti);
      return found && isSignedAsRecorded(found.row, token) ? found.caller : undefined;
    });
  }, BATCH_SIZE);

/**
 * The user of a web session, by the SHA-256 of its secret; undefined if it has ended or was idle for `idleAfter`
 * seconds (0: sessions never end for idleness).
 */
export const userOfSession = async (
  pool: Pool,
  hash: Buffer,
  idleAfter: number,
): Promise<UserCaller | undefined> => {
  const query = { name: 'session-caller', text: SESSION_CALLER, values: [hash, idleAfter] };
  const {
    rows: [row],
  } = await pool.query<Row & { readonly is_remembered: boolean }>(query);
  return row && { ...callerOf(row), isRemembered: row.is_remembered };
};

const SECONDS_LEFT = `
  SELECT s.id, extract(epoch FROM s.last_active_at - now()) + $2::float8 AS seconds, s.is_remembered
  FROM identity.sessions s WHERE s.secret_hash = $1 AND ${IS_CHAIN_ALIVE} AND ${isInUse('$2')}`;

/** How long a web session can continue without activity. */
export interface TimeLeft {
  readonly sessionId: string;
  /** Null if it does not end for idleness. */
  readonly seconds: number | null;
}

/** The time that a web session has left, by the SHA-256 of its secret; undefined if it has ended. */
export const timeLeftOfSession = async (
  pool: Pool,
  hash: Buffer,
  idleAfter: number,
): Promise<TimeLeft | undefined> => {
  const {
    rows: [row],
  } = await pool.query<{ id: string; seconds: string; is_remembered: boolean }>({
    name: 'session-time-left',
    text: SECONDS_LEFT,
    values: [hash, idleAfter],
  });
  if (!row) return undefined;
  const isEndless = row.is_remembered || idleAfter === 0;
  return { sessionId: row.id, seconds: isEndless ? null : Number(row.seconds) };
};

/** The user of a recorded token that can be renewed, even if expired, or that was already renewed. */
export const renewableUserOfToken = async (
  pool: Pool,
  token: SignedToken,
): Promise<UserCaller | undefined> => {
  const query = { name: 'renewable-caller', text: RENEWABLE_CALLER, values: [token.jti] };
  const {
    rows: [row],
  } = await pool.query<Row & { readonly is_replaced: boolean }>(query);
  if (!row || !isSignedAsRecorded(row, token)) return undefined;
  return { ...callerOf(row), isReplaced: row.is_replaced };
};

interface ClientRow {
  readonly client_id: string;
  readonly name: string;
  readonly scope: string;
  readonly expires_at: Date;
}

const CLIENT = `
  SELECT a.client_id, s.name, coalesce(a.payload->>'scope', '') AS scope, a.expires_at
  FROM identity.oauth_artifacts a
  JOIN identity.system_applications s ON s.client_id = a.client_id AND s.disabled_at IS NULL
  WHERE a.model = 'ClientCredentials' AND a.id_hash = $1`;

/** The client of an opaque token, by the token's SHA-256; undefined if it is not valid. */
export const clientOfToken = async (
  pool: Pool,
  hash: Buffer,
): Promise<ClientCaller | undefined> => {
  const {
    rows: [row],
  } = await pool.query<ClientRow>({ name: 'client', text: CLIENT, values: [hash] });
  if (!row || +row.expires_at <= Date.now()) return undefined;
  return {
    type: 'client',
    id: row.client_id,
    name: row.name,
    tokenId: hash.toString('hex'),
    clientId: row.client_id,
    scopes: row.scope.split(' ').filter(Boolean),
    expiresAt: row.expires_at,
  };
};
