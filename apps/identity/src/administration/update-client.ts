import type { PermissionRegistry } from '@tessera/contracts';
import { text } from '@tessera/fields';
import { coversPattern } from '@tessera/scope-matcher';
import { noteCommand } from '../activity/activity.ts';
import { changesBetween } from '../activity/changes.ts';
import { requireRedirectUris } from '../clients/registration.ts';
import type { Database, Transaction } from '../database.ts';
import { changeAndEndTokens } from './clients.ts';
import { messageAbout, recordedClient, requireKnownScopes, valid } from './create.ts';
import type { Session } from './session.ts';

export interface ClientUpdate {
  readonly clientId: string;
  readonly name?: string | undefined;
  /** Replaces all redirect URIs. */
  readonly redirectUris?: readonly string[] | undefined;
  /** Replaces all allowed scopes of a third-party client. */
  readonly allowedScopes?: readonly string[] | undefined;
  /** Whether it is part of the platform (decision I19). */
  readonly isFirstParty?: boolean | undefined;
}

const noClient = async (database: Database, clientId: string): Promise<Error> => {
  const isSystem = (await database.systemApplication.count({ where: { clientId } })) > 0;
  return new Error(
    isSystem
      ? `${clientId} is a system application: it has no redirect URIs, and its scopes do not change.`
      : `There is no client called ${clientId}.`,
  );
};

type Client = NonNullable<Awaited<ReturnType<Database['oAuthClient']['findUnique']>>>;

/** Throws if a scope is unknown, or if the client is not a third-party client after the change. */
const requireScopesFit = (
  permissions: PermissionRegistry,
  client: Client,
  { allowedScopes, isFirstParty }: ClientUpdate,
): void => {
  if (allowedScopes === undefined) return;
  requireKnownScopes(permissions, allowedScopes);
  if ((isFirstParty ?? client.isFirstParty) || client.tenantId !== null) {
    throw new Error(`${client.clientId} is not a third-party client: it gets the scope api.`);
  }
};

/** Whether the client has fewer permissions after the change, so that its tokens must end. */
const isNarrower = (client: Client, { allowedScopes, isFirstParty }: ClientUpdate): boolean => {
  if (client.isFirstParty && isFirstParty === false) return true;
  if (allowedScopes === undefined) return false;
  return client.allowedScopes.some(
    (had) => !allowedScopes.some((pattern) => coversPattern(pattern, had)),
  );
};

/** The columns that change. Throws if a value is invalid. */
const changesOf = (permissions: PermissionRegistry, client: Client, update: ClientUpdate) => {
  const { name, redirectUris, allowedScopes, isFirstParty } = update;
  if (redirectUris !== undefined) requireRedirectUris(client.clientId, redirectUris);
  if (isFirstParty !== undefined && client.tenantId !== null) {
    throw new Error(`${client.clientId} is the client of a tenant: it cannot be first-party.`);
  }
  requireScopesFit(permissions, client, update);
  return {
    ...(name !== undefined && { name: valid(text(200), name, 'name') }),
    ...(redirectUris !== undefined && { redirectUris: [...new Set(redirectUris)] }),
    ...(allowedScopes !== undefined && { allowedScopes: [...new Set(allowedScopes)] }),
    ...(isFirstParty !== undefined && { isFirstParty }),
  };
};

/**
 * Changes a user-facing client, in one transaction, and returns it. Its secret and the consents of users remain,
 * and so do its tokens, unless its scopes become narrower or it is no longer first-party. Throws without a change,
 * for an invalid value, and if the client does not exist.
 */
export const updateClient = async (
  { database, permissions }: Pick<Session, 'database' | 'permissions'>,
  update: ClientUpdate,
): Promise<object> => {
  const { clientId, ...given } = update;
  if (Object.values(given).every((value) => value === undefined)) {
    throw new Error(
      'Nothing to change: give --name, --redirect-uri, --scope, --first-party or --no-first-party.',
    );
  }
  const before = await database.oAuthClient.findUnique({ where: { clientId } });
  if (!before) throw await noClient(database, clientId);
  const data = changesOf(permissions, before, update);
  const change = async (tx: Transaction) => {
    const after = await tx.oAuthClient.update({ where: { clientId }, data });
    const changes = changesBetween(recordedClient(before), recordedClient(after));
    if (!changes) return;
    const { tenantId } = before;
    await noteCommand(tx, `update-client ${clientId}`, 'client_updated', { tenantId, changes });
  };
  if (isNarrower(before, update)) {
    await changeAndEndTokens(database, { clientId, kind: 'client' }, 'client_changed', change);
  } else await database.$transaction(change);
  const client = await database.oAuthClient.findUniqueOrThrow({ where: { clientId } });
  return {
    client_id: clientId,
    name: client.name,
    redirect_uris: client.redirectUris,
    is_trusted: client.isTrusted,
    is_first_party: client.isFirstParty,
    allowed_scopes: client.allowedScopes,
    ...messageAbout(permissions, update.allowedScopes ?? []),
  };
};
