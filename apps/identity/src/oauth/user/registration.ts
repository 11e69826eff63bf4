import type { Transaction } from '../../database.ts';
import { digest, newSecret } from '../../secrets.ts';
import { FIRST_PARTY } from '../../tokens/access-token.ts';
import { fillIn, redirectUriProblem } from './redirect-uri.ts';

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
}

/**
 * Makes a user-facing client and gives its secret, of which only the digest is kept; null where it is
 * public. Throws where a redirect URI is refused or the id is taken.
 */
export const registerClient = async (
  tx: Transaction,
  { isPublic, redirectUris, ...client }: NewClient,
): Promise<string | null> => {
  demandFreeClientId(client.clientId);
  demandRedirectUris(client.clientId, redirectUris);
  const secret = isPublic ? null : newSecret();
  await tx.oAuthClient.create({
    data: {
      ...client,
      redirectUris: [...redirectUris],
      secretHash: secret === null ? null : new Uint8Array(digest(secret)),
    },
  });
  return secret;
};

/**
 * Makes the confidential client that each tenant gets with it (identity.md section 2, decision I18), for
 * the transaction that makes the tenant. `templates` are the redirect URIs of the configuration, in which
 * `{slug}` stands for the tenant's.
 */
export const registerTenantClient = async (
  tx: Transaction,
  { id, slug, name }: { readonly id: string; readonly slug: string; readonly name: string },
  templates: readonly string[],
): Promise<{ clientId: string; secret: string }> => {
  const clientId = `tenant-${slug}`;
  const redirectUris = templates.map((template) => fillIn(template, slug));
  const secret = await registerClient(tx, {
    clientId,
    name,
    redirectUris,
    tenantId: id,
    isPublic: false,
    isTrusted: true,
    isFirstParty: false,
  });
  return { clientId, secret: secret ?? '' };
};
