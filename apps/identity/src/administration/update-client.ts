import { text } from '@tessera/fields';
import type { Database } from '../database.ts';
import { coversPattern } from '../oauth/system/scopes.ts';
import { demandRedirectUris } from '../oauth/user/registration.ts';
import { changeAndEndTokens } from './clients.ts';
import { demandKnownScopes, valid } from './create.ts';

export interface ClientUpdate {
  readonly clientId: string;
  readonly name?: string | undefined;
  /** In the place of all that the client has. */
  readonly redirectUris?: readonly string[] | undefined;
  /** Of a third-party client, in the place of all that it may ask for. */
  readonly allowedScopes?: readonly string[] | undefined;
}

const noClient = async (database: Database, clientId: string): Promise<Error> => {
  const isSystem = (await database.systemApplication.count({ where: { clientId } })) > 0;
  return new Error(
    isSystem
      ? `${clientId} is a system application: it has no redirect URIs, and its scopes do not change.`
      : `There is no client called ${clientId}.`,
  );
};

/**
 * Sets what a third-party client may ask for. Where that takes something away, its tokens end: those that
 * users grant it next have what is left. Throws for a client of the platform or of a tenant.
 */
const allowScopes = async (
  database: Database,
  clientId: string,
  allowedScopes: readonly string[],
): Promise<void> => {
  demandKnownScopes(allowedScopes);
  const client = await database.oAuthClient.findUnique({ where: { clientId } });
  if (!client) throw await noClient(database, clientId);
  if (client.isFirstParty || client.tenantId !== null) {
    throw new Error(`${clientId} is not a third-party client: it gets the scope api.`);
  }
  const change = (db: Pick<Database, 'oAuthClient'>) =>
    db.oAuthClient.update({
      where: { clientId },
      data: { allowedScopes: [...new Set(allowedScopes)] },
    });
  const isNarrower = client.allowedScopes.some(
    (had) => !allowedScopes.some((pattern) => coversPattern(pattern, had)),
  );
  if (!isNarrower) await change(database);
  else await changeAndEndTokens(database, { clientId, kind: 'client' }, 'client_changed', change);
};

/**
 * Changes what is given of a user-facing client and gives the client as it is now. Its secret and the consent
 * of users stay, and its tokens too, unless its scopes become narrower. Throws where nothing is given, where a value is refused, and where
 * there is no such client.
 */
export const updateClient = async (
  database: Database,
  { clientId, ...given }: ClientUpdate,
): Promise<object> => {
  const { name, redirectUris, allowedScopes } = given;
  if (name === undefined && redirectUris === undefined && allowedScopes === undefined) {
    throw new Error('Nothing to change: give --name, --redirect-uri or --scope.');
  }
  const data: { name?: string; redirectUris?: string[] } = {};
  if (given.name !== undefined) data.name = valid(text(200), given.name, 'name');
  if (given.redirectUris !== undefined) {
    demandRedirectUris(clientId, given.redirectUris);
    data.redirectUris = [...new Set(given.redirectUris)];
  }
  const { count } = await database.oAuthClient.updateMany({ where: { clientId }, data });
  if (count === 0) throw await noClient(database, clientId);
  if (allowedScopes !== undefined) await allowScopes(database, clientId, allowedScopes);
  const client = await database.oAuthClient.findUniqueOrThrow({ where: { clientId } });
  return {
    client_id: clientId,
    name: client.name,
    redirect_uris: client.redirectUris,
    is_trusted: client.isTrusted,
    allowed_scopes: client.allowedScopes,
  };
};
