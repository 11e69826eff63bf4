import { setTimeout as pause } from 'node:timers/promises';
import type { Action } from '../activity/actions.ts';
import { noteCommand } from '../activity/activity.ts';
import { changesBetween } from '../activity/changes.ts';
import type { Database, Transaction } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { CACHE_MS } from '../oauth/system/applications.ts';
import { enqueue } from '../outbox/outbox.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { type RevocationReason, tokenRevokedEvent } from '../tokens/revoke.ts';

/** Clients of the two kinds are stored separately (identity.md section 2), so an id can exist in both. */
const tables = { 'system-application': 'system_applications', client: 'oauth_clients' } as const;

export type ClientKind = keyof typeof tables;
export const clientKinds = Object.keys(tables) as ClientKind[];

/** Identifies a client; the kind is only needed if the id exists in both. */
export interface ClientRef {
  readonly clientId: string;
  readonly kind?: ClientKind | undefined;
}

const tableOf = (kind: ClientKind): Prisma.Sql => Prisma.raw(`identity.${tables[kind]}`);

/** The kind of the client with this id. Throws if it does not exist, or exists in both kinds. */
const kindOf = async (database: Database, { clientId, kind }: ClientRef): Promise<ClientKind> => {
  const where = { clientId };
  const count = {
    'system-application': () => database.systemApplication.count({ where }),
    client: () => database.oAuthClient.count({ where }),
  };
  const found: ClientKind[] = [];
  for (const one of kind ? [kind] : clientKinds) {
    if ((await count[one]()) > 0) found.push(one);
  }
  const [first, second] = found;
  if (!first) throw new Error(`There is no client called ${clientId}.`);
  if (second) throw new Error(`There are two clients called ${clientId}: say which by --kind.`);
  return first;
};

/** Time until no replica uses its cached client, and requests in progress have finished. */
const SETTLE_MS = 2 * CACHE_MS;

const TRANSACTION = { timeout: 60_000 };

/** Ends all tokens, codes, refresh tokens and grants of a client. Returns whether there were any. */
const endTokens = async (tx: Transaction, kind: ClientKind, clientId: string): Promise<boolean> => {
  if (kind === 'system-application') {
    const ended = await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
      WHERE client_id = ${clientId} AND model = 'ClientCredentials'`;
    return ended > 0;
  }
  const artifacts = await tx.$executeRaw`DELETE FROM identity.oauth_artifacts
    WHERE client_id = ${clientId} AND model <> 'ClientCredentials'`;
  const tokens = await tx.$executeRaw`UPDATE identity.tokens SET revoked_at = now()
    WHERE client_id = ${clientId} AND revoked_at IS NULL`;
  return artifacts + tokens > 0;
};

/**
 * Changes a client and ends its tokens, and ends them once more after requests in progress have finished, because
 * these can have issued others.
 */
export const changeAndEndTokens = async (
  database: Database,
  { clientId, kind }: KnownClient,
  reason: RevocationReason,
  change: (tx: Transaction) => Promise<unknown>,
): Promise<void> => {
  const event = tokenRevokedEvent({ client_id: clientId, reason });
  await database.$transaction(async (tx) => {
    await change(tx);
    await endTokens(tx, kind, clientId);
    await enqueue(tx, event);
  }, TRANSACTION);
  await pause(SETTLE_MS);
  await database.$transaction(async (tx) => {
    if (await endTokens(tx, kind, clientId)) await enqueue(tx, event);
  }, TRANSACTION);
};

interface KnownClient {
  readonly clientId: string;
  readonly kind: ClientKind;
}

/** The tenant of a client; null for a client of the platform. */
const tenantOf = async (
  tx: Transaction,
  { clientId, kind }: KnownClient,
): Promise<string | null> => {
  if (kind === 'system-application') return null;
  const client = await tx.oAuthClient.findUnique({ where: { clientId } });
  return client?.tenantId ?? null;
};

const noteChange = async (
  tx: Transaction,
  client: KnownClient,
  command: string,
  action: Action,
): Promise<void> => {
  const tenantId = await tenantOf(tx, client);
  await noteCommand(tx, `${command} ${client.clientId}`, action, { tenantId });
};

export interface Rotation extends ClientRef {
  /** How long the previous secret remains valid; 0: not at all. */
  readonly overlapMs: number;
  /** Whether to end the client's tokens, because the secret may have been stolen. */
  readonly revokeTokens: boolean;
}

/**
 * Gives a client a new secret, which cannot be shown again. The previous one remains valid for the overlap; older
 * ones do not. Throws for a public client, which has none.
 */
export const rotateSecret = async (
  database: Database,
  { overlapMs, revokeTokens, ...named }: Rotation,
): Promise<object> => {
  const { clientId } = named;
  const kind = await kindOf(database, named);
  const client_secret = newSecret();
  const hash = digest(client_secret);
  const until = overlapMs > 0 ? new Date(Date.now() + overlapMs) : null;
  const replace = async (tx: Transaction): Promise<void> => {
    const replaced = await tx.$executeRaw`
      UPDATE ${tableOf(kind)} SET secret_hash = ${hash}, previous_secret_expires_at = ${until},
        previous_secret_hash = CASE WHEN ${until !== null} THEN secret_hash END
      WHERE client_id = ${clientId} AND secret_hash IS NOT NULL`;
    if (replaced === 0) throw new Error(`${clientId} is a public client: it has no secret.`);
    const changes = changesBetween({}, { previous_secret_expires_at: until });
    const tenantId = await tenantOf(tx, { clientId, kind });
    const command = `rotate-secret ${clientId}`;
    await noteCommand(tx, command, 'client_secret_rotated', { tenantId, changes });
  };
  if (revokeTokens)
    await changeAndEndTokens(database, { clientId, kind }, 'secret_rotated', replace);
  else await database.$transaction(replace);
  return {
    client_id: clientId,
    client_secret,
    previous_secret_expires_at: until?.toISOString() ?? null,
  };
};

/** Disables a client and ends its tokens; it can be enabled again. */
export const disableClient = async (database: Database, named: ClientRef): Promise<object> => {
  const { clientId } = named;
  const kind = await kindOf(database, named);
  const disabledAt = new Date();
  await changeAndEndTokens(database, { clientId, kind }, 'client_disabled', async (tx) => {
    const disabled = await tx.$executeRaw`UPDATE ${tableOf(kind)}
        SET disabled_at = ${disabledAt} WHERE client_id = ${clientId} AND disabled_at IS NULL`;
    if (disabled > 0) await noteChange(tx, { clientId, kind }, 'disable-client', 'client_disabled');
  });
  return { client_id: clientId, disabled: true };
};

/** Undoes `disableClient`; its tokens remain revoked. */
export const enableClient = async (database: Database, named: ClientRef): Promise<object> => {
  const { clientId } = named;
  const kind = await kindOf(database, named);
  await database.$transaction(async (tx) => {
    const enabled = await tx.$executeRaw`UPDATE ${tableOf(kind)}
      SET disabled_at = NULL WHERE client_id = ${clientId} AND disabled_at IS NOT NULL`;
    if (enabled > 0) await noteChange(tx, { clientId, kind }, 'enable-client', 'client_enabled');
  });
  return { client_id: clientId, disabled: false };
};

/** Deletes a client with its tokens and the consents of users. */
export const deleteClient = async (database: Database, named: ClientRef): Promise<object> => {
  const { clientId } = named;
  const kind = await kindOf(database, named);
  await changeAndEndTokens(database, { clientId, kind }, 'client_deleted', async (tx) => {
    await noteChange(tx, { clientId, kind }, 'delete-client', 'client_deleted');
    await tx.$executeRaw`DELETE FROM ${tableOf(kind)} WHERE client_id = ${clientId}`;
  });
  return { client_id: clientId, deleted: true };
};

interface StoredClient {
  readonly clientId: string;
  readonly name: string;
  readonly previousSecretExpiresAt: Date | null;
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
}

const present = ({ clientId, name, ...stored }: StoredClient) => {
  const until = stored.previousSecretExpiresAt;
  return {
    client_id: clientId,
    name,
    disabled: stored.disabledAt !== null,
    previous_secret_expires_at: until && +until > Date.now() ? until.toISOString() : null,
    created_at: stored.createdAt.toISOString(),
  };
};

const orderBy = { clientId: 'asc' } as const;

/** All system applications, without their secrets. */
export const listSystemApplications = async (database: Database): Promise<object[]> => {
  const all = await database.systemApplication.findMany({ orderBy });
  return all.map((one) => ({
    ...present(one),
    scope: one.scopes.join(' '),
    is_resource_server: one.isResourceServer,
  }));
};

/** All user-facing clients, without their secrets. */
export const listClients = async (database: Database): Promise<object[]> => {
  const all = await database.oAuthClient.findMany({ orderBy, include: { tenant: true } });
  return all.map((one) => ({
    ...present(one),
    is_public: one.secretHash === null,
    is_trusted: one.isTrusted,
    is_first_party: one.isFirstParty,
    allowed_scopes: one.allowedScopes,
    tenant: one.tenant?.slug ?? null,
    redirect_uris: one.redirectUris,
  }));
};
