import type { Client, Provider } from 'oidc-provider';
import { hasDigest } from '../security/secrets.ts';

/** What is kept of a client's secrets: after a rotation the one before is good for a while. */
export interface KeptSecrets {
  readonly secretHash: Uint8Array;
  readonly previousSecretHash: Uint8Array | null;
  readonly previousSecretExpiresAt: Date | null;
}

const hex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');

/** What `secretMetadata` adds to the standard's metadata; a provider must be told. */
export const ownSecretMetadata = ['previous_secret', 'previous_secret_expires_at'];

/** The secrets of a client as the provider's metadata. Only digests are known. */
export const secretMetadata = (kept: KeptSecrets) => ({
  client_secret: hex(kept.secretHash),
  ...(kept.previousSecretHash && {
    previous_secret: hex(kept.previousSecretHash),
    previous_secret_expires_at: +(kept.previousSecretExpiresAt ?? 0),
  }),
});

/** Whether a secret is the client's, or the one before in its time. */
const isSecretOf = (secret: string, { clientSecret, ...client }: Client): boolean => {
  const { previous_secret: previous, previous_secret_expires_at: expiresAt } = client;
  const isGood = typeof previous === 'string' && Number(expiresAt) > Date.now();
  const digests = [clientSecret ?? '', isGood ? previous : ''];
  return hasDigest(secret, ...digests.map((digest) => Buffer.from(digest, 'hex')));
};

/**
 * Makes a provider compare secrets of which only digests are known, by its own way for that. Where what
 * it knows of a client is not the latest, `again` reads it anew: a new secret is good at once.
 */
export const compareByDigest = (
  { Client }: Provider,
  again: (clientId: string) => Promise<Client | undefined> = async () => undefined,
): void => {
  Client.prototype.compareClientSecret = async function compareClientSecret(secret) {
    if (isSecretOf(secret, this)) return true;
    const latest = await again(this.clientId);
    return latest !== undefined && isSecretOf(secret, latest);
  };
};
