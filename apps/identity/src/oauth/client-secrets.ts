import type { Client, Provider } from 'oidc-provider';
import { hasDigest } from '../security/secrets.ts';

/** The digests of a client's secrets. After a rotation the previous secret is valid for a while. */
export interface SecretDigests {
  readonly secretHash: Uint8Array;
  readonly previousSecretHash: Uint8Array | null;
  readonly previousSecretExpiresAt: Date | null;
}

const hex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');

/** The members of `secretMetadata` that are not in the standard; the provider must be configured to keep them. */
export const extraSecretMetadata = ['previous_secret', 'previous_secret_expires_at'];

/** The secrets of a client as the provider's metadata, by digest. */
export const secretMetadata = (digests: SecretDigests) => ({
  client_secret: hex(digests.secretHash),
  ...(digests.previousSecretHash && {
    previous_secret: hex(digests.previousSecretHash),
    previous_secret_expires_at: +(digests.previousSecretExpiresAt ?? 0),
  }),
});

/** Whether a secret is the client's current one, or the previous one before it expires. */
const isSecretOf = (secret: string, { clientSecret, ...client }: Client): boolean => {
  const { previous_secret: previous, previous_secret_expires_at: expiresAt } = client;
  const isPreviousValid = typeof previous === 'string' && Number(expiresAt) > Date.now();
  const digests = [clientSecret ?? '', isPreviousValid ? previous : ''];
  return hasDigest(secret, ...digests.map((digest) => Buffer.from(digest, 'hex')));
};

/**
 * Makes a provider compare secrets with digests. `reload` reads a cached client again when a secret does not
 * match, so that a new secret is accepted at once.
 */
export const compareByDigest = (
  { Client }: Provider,
  reload: (clientId: string) => Promise<Client | undefined> = async () => undefined,
): void => {
  Client.prototype.compareClientSecret = async function compareClientSecret(secret) {
    if (isSecretOf(secret, this)) return true;
    const latest = await reload(this.clientId);
    return latest !== undefined && isSecretOf(secret, latest);
  };
};
