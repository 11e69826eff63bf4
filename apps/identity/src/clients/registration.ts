import { tenantClient } from '@tessera/contracts';
import type { Transaction } from '../database.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { FIRST_PARTY } from '../tokens/access-token.ts';
import { redirectUriProblem } from './redirect-uri.ts';

/** Throws if a client id is reserved for tokens that are issued without a client. */
export const requireFreeClientId = (clientId: string): void => {
  if (clientId === FIRST_PARTY) throw new Error(`The client id ${clientId} is reserved.`);
};

/** Throws an error that names the invalid redirect URI and the reason. */
export const requireRedirectUris = (clientId: string, uris: readonly string[]): void => {
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem) throw new Error(`${clientId}: the redirect URI ${uri} is refused: ${problem}.`);
  }
};

export interface NewClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Has no secret, because browsers and phones cannot keep one. */
  readonly isPublic: boolean;
  /** Whether users are not asked for consent. */
  readonly isTrusted: boolean;
  /** Whether it is part of the platform and gets the scope `api` (decision I19). Never for a tenant's client. */
  readonly isFirstParty: boolean;
  readonly tenantId: string | null;
  /** For a third-party client: the patterns within which it can request permissions. */
  readonly allowedScopes?: readonly string[];
}

const secretOf = (): { secret: string; secretHash: Uint8Array<ArrayBuffer> } => {
  const secret = newSecret();
  return { secret, secretHash: digest(secret) };
};

/**
 * Registers a user-facing client and returns its secret, of which only the digest is stored; null for a public
 * client. Throws if a redirect URI is invalid or the id is taken.
 */
export const registerClient = async (
  tx: Transaction,
  { isPublic, redirectUris, allowedScopes = [], ...client }: NewClient,
): Promise<string | null> => {
  requireFreeClientId(client.clientId);
  requireRedirectUris(client.clientId, redirectUris);
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

/** The tenant of a client. */
export interface ClientOwner {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/**
 * Registers the confidential client of a tenant (identity.md section 2, decision I18) and returns its secret, of
 * which only the digest is stored. `templates` are the configured redirect URIs. Null if the client id is taken;
 * the transaction can continue.
 */
export const registerTenantClient = async (
  tx: Transaction,
  tenant: ClientOwner,
  templates: readonly string[],
): Promise<{ clientId: string; secret: string } | null> => {
  const { redirectUris, ...client } = tenantClient(tenant, templates);
  requireRedirectUris(client.clientId, redirectUris);
  const { secret, secretHash } = secretOf();
  const { count } = await tx.oAuthClient.createMany({
    data: [{ ...client, redirectUris: [...redirectUris], secretHash }],
    skipDuplicates: true,
  });
  return count === 0 ? null : { clientId: client.clientId, secret };
};
