import { text } from '@tessera/fields';
import type { Database } from '../database.ts';
import { demandRedirectUris } from '../oauth/user/registration.ts';
import { valid } from './create.ts';

export interface ClientUpdate {
  readonly clientId: string;
  readonly name?: string | undefined;
  /** In the place of all that the client has. */
  readonly redirectUris?: readonly string[] | undefined;
}

const noClient = async (database: Database, clientId: string): Promise<Error> => {
  const isSystem = (await database.systemApplication.count({ where: { clientId } })) > 0;
  return new Error(
    isSystem
      ? `${clientId} is a system application: it has no redirect URIs.`
      : `There is no client called ${clientId}.`,
  );
};

/**
 * Changes what is given of a user-facing client and gives the client as it is now. Its tokens, its secret
 * and what users have granted it stay. Throws where nothing is given, where a value is refused, and where
 * there is no such client.
 */
export const updateClient = async (
  database: Database,
  { clientId, ...given }: ClientUpdate,
): Promise<object> => {
  if (given.name === undefined && given.redirectUris === undefined) {
    throw new Error('Nothing to change: give --name, --redirect-uri, or both.');
  }
  const data: { name?: string; redirectUris?: string[] } = {};
  if (given.name !== undefined) data.name = valid(text(200), given.name, 'name');
  if (given.redirectUris !== undefined) {
    demandRedirectUris(clientId, given.redirectUris);
    data.redirectUris = [...new Set(given.redirectUris)];
  }
  const { count } = await database.oAuthClient.updateMany({ where: { clientId }, data });
  if (count === 0) throw await noClient(database, clientId);
  const client = await database.oAuthClient.findUniqueOrThrow({ where: { clientId } });
  return {
    client_id: clientId,
    name: client.name,
    redirect_uris: client.redirectUris,
    is_trusted: client.isTrusted,
  };
};
