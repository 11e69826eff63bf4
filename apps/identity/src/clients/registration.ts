import { tenantClient } from '@tessera/contracts';
import type { Transaction } from '../database.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { FIRST_PARTY } from '../tokens/access-token.ts';
import { redirectUriProblem } from './redirect-uri.ts';

/** Throws where an id cannot be a client's: tokens that are issued without a client carry it. */
export const demandFreeClientId = (clientId: string): void => {
  if (clientId === FIRST_PARTY) throw new Error(`The client id ${clientId} is reserved.`);
};

/** Throws an error that names the address and what is wrong with it. */
export const demandRedirectUris = (clientId: string, uris: readonly string[]): void => {
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem) throw new Error(`${clientId}: the redirect URI ${uri} is refused: ${problem}.`);
  }
};

export interface NewClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Without a secret: in a browser or on a phone it would be none. */
  readonly isPublic: boolean;
  /** Users are not asked for consent. */
  readonly isTrusted: boolean;
  /** Part of the platform itself: it gets the scope `api` (decision I19). Never a tenant's client. */
  readonly isFirstParty: boolean;
  readonly tenantId: string | null;
  /** Of a third-party client: the patterns within which it may ask for permissions. */
  readonly allowedScopes?: readonly string[];
}

const secretOf = (): { secret: string; secretHash: Uint8Array<ArrayBuffer> } => {
  const secret = newSecret();
  return { secret, secretHash: digest(secret) };
};

/**
 * Makes a user-facing client and gives its secret, of which only the digest is kept; null where it is
 * public. Throws where a redirect URI is refused or the id is taken.
 */
export const registerClient = async (
  tx: Transaction,
  { isPublic, redirectUris, allowedScopes = [], ...client }: NewClient,
): Promise<string | null> => {
  demandFreeClientId(client.clientId);
  demandRedirectUris(client.clientId, redirectUris);
  const made = isPublic ? null : secretOf();
  await tx.oAuthClient.create({
    data: {
      ...client,
      redirectUris: [...redirectUris],
      allowedScopes: [...allowedScopes],
      secretHash: made?.secretHash ?? null,
    },
  });
  return made?.secret ?? null;
};

/** A tenant, as far as its client is about it. */
export interface ClientOwner {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/**
 * Makes the confidential client of a tenant (identity.md section 2, decision I18) and gives its secret, of
 * which only the digest is kept. `templates` are the redirect URIs of the configuration. Null where the
 * id of the client is taken; the transaction can go on.
 */
export const registerTenantClient = async (
  tx: Transaction,
  tenant: ClientOwner,
  templates: readonly string[],
): Promise<{ clientId: string; secret: string } | null> => {
  const { redirectUris, ...client } = tenantClient(tenant, templates);
  demandRedirectUris(client.clientId, redirectUris);
  const { secret, secretHash } = secretOf();
  const { count } = await tx.oAuthClient.createMany({
    data: [{ ...client, redirectUris: [...redirectUris], secretHash }],
    skipDuplicates: true,
  });
  return count === 0 ? null : { clientId: client.clientId, secret };
};
