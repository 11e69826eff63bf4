import { randomBytes } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';

/** The purpose for which the vault seals the secrets; it prevents use with another endpoint. */
export const secretsPurpose = (endpointId: string): string =>
  `webhook_endpoints.sealed_secrets ${endpointId}`;

/** A secret that requests are signed with. */
interface SigningSecret {
  /** `whsec_` and 32 bytes in base64, as Standard Webhooks specifies. */
  readonly secret: string;
  /** When it is no longer used; null for the current one. */
  readonly expires_at: string | null;
}

/** A new secret: 256 random bits. */
export const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** How many replaced secrets stay in use at most. */
const MAX_REPLACED = 4;

/** Seals and opens the secrets of endpoints. */
export interface EndpointSecrets {
  /** Throws 503 if no encryption key is configured. */
  sealNew(endpointId: string, secret: string): Buffer;
  /**
   * Adds a secret; those in use before remain valid until `expiresAt` at the latest. Throws 503 if they cannot be
   * decrypted, unless that is now.
   */
  rotate(endpointId: string, sealed: Uint8Array, secret: string, expiresAt: Date): Buffer;
  /** The secrets that requests are signed with at this time, the current one first. */
  open(endpointId: string, sealed: Uint8Array, at: Date): readonly string[];
}

/** Without a vault, secrets are rejected with a 503. */
export const createEndpointSecrets = (vault: Vault | undefined): EndpointSecrets => {
  const usedVault = (): Vault => {
    if (vault) return vault;
    const message = 'Webhook secrets cannot be stored: no encryption key is configured.';
    throw new HttpError(503, 'not_ready', message);
  };

  const seal = (id: string, secrets: readonly SigningSecret[]): Buffer =>
    usedVault().seal(Buffer.from(JSON.stringify(secrets)), secretsPurpose(id));

  const valid = (id: string, sealed: Uint8Array, at: Date): readonly SigningSecret[] => {
    const opened = usedVault().open(sealed, secretsPurpose(id)).toString();
    const secrets = JSON.parse(opened) as readonly SigningSecret[];
    return secrets.filter(({ expires_at: end }) => end === null || new Date(end) > at);
  };

  /** The same, for a new secret that they overlap with. */
  const overlapping = (...of: Parameters<typeof valid>): readonly SigningSecret[] => {
    try {
      return valid(...of);
    } catch (cause) {
      if (cause instanceof HttpError) throw cause;
      const message =
        'The former secret cannot be decrypted. Set overlap_hours to 0, or ask the operator for the encryption key.';
      throw new HttpError(503, 'not_ready', message, { cause });
    }
  };

  return {
    sealNew: (id, secret) => seal(id, [{ secret, expires_at: null }]),

    rotate(id, sealed, secret, expiresAt) {
      const now = new Date();
      const end = expiresAt.toISOString();
      const former = expiresAt > now ? overlapping(id, sealed, now) : [];
      const replaced = former.slice(0, MAX_REPLACED).map((one) => ({
        secret: one.secret,
        expires_at: one.expires_at !== null && one.expires_at < end ? one.expires_at : end,
      }));
      return seal(id, [{ secret, expires_at: null }, ...replaced]);
    },

    open: (id, sealed, at) => valid(id, sealed, at).map(({ secret }) => secret),
  };
};
