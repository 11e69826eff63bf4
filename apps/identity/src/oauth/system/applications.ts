import type { AdapterPayload } from 'oidc-provider';
import type { Pool } from 'pg';
import { CLIENT_ID } from '../client-id.ts';
import { type SecretDigests, secretMetadata } from '../client-secrets.ts';

interface Row extends SecretDigests {
  readonly client_id: string;
  readonly scopes: string[];
  readonly is_resource_server: boolean;
}

const SELECT = `SELECT client_id, scopes, is_resource_server, secret_hash AS "secretHash",
    previous_secret_hash AS "previousSecretHash",
    previous_secret_expires_at AS "previousSecretExpiresAt"
  FROM identity.system_applications WHERE client_id = $1 AND disabled_at IS NULL`;

const metadataOf = ({
  client_id,
  scopes,
  is_resource_server,
  ...secrets
}: Row): AdapterPayload => ({
  client_id,
  ...secretMetadata(secrets),
  allowed_scopes: scopes,
  is_resource_server,
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
});

/** Milliseconds that a replica caches an application. */
export const CACHE_MS = 1000;

export interface SystemApplications {
  find(clientId: string): Promise<AdapterPayload | undefined>;
  /** Drops an application from the cache. */
  forget(clientId: string): void;
}

/**
 * Looks up system applications, with a cache: a service that makes a thousand requests per second costs one
 * read per second, and changes take effect within `cacheMs`. Unknown ids are not cached.
 */
export const systemApplications = (pool: Pool, cacheMs = CACHE_MS): SystemApplications => {
  const cache = new Map<string, AdapterPayload>();
  return {
    async find(clientId) {
      const cached = cache.get(clientId);
      if (cached) return cached;
      if (!CLIENT_ID.test(clientId)) return undefined;
      const { rows } = await pool.query<Row>({
        name: 'system-application',
        text: SELECT,
        values: [clientId],
      });
      const [row] = rows;
      if (!row) return undefined;
      const metadata = metadataOf(row);
      cache.set(clientId, metadata);
      setTimeout(() => cache.delete(clientId), cacheMs).unref();
      return metadata;
    },
    forget: (clientId) => void cache.delete(clientId),
  };
};
