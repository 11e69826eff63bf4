import type { AdapterPayload } from 'oidc-provider';
import type { Pool } from 'pg';
import { type KeptSecrets, secretMetadata } from '../client-secrets.ts';

interface Row extends KeptSecrets {
  readonly client_id: string;
  readonly scopes: string[];
  readonly is_resource_server: boolean;
}

const SELECT = `SELECT client_id, scopes, is_resource_server, secret_hash AS "secretHash",
    previous_secret_hash AS "previousSecretHash",
    previous_secret_expires_at AS "previousSecretExpiresAt"
  FROM identity.system_applications WHERE client_id = $1 AND disabled_at IS NULL`;

/** RFC 6749 appendix A.1; whatever else is asked for is nobody, and never reaches the database. */
const CLIENT_ID = /^[\x20-\x7e]{1,200}$/;

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

/** Milliseconds that a replica believes what it knows of an application. */
export const KEEP_MS = 1000;

export interface SystemApplications {
  find(clientId: string): Promise<AdapterPayload | undefined>;
  /** The next look is at the database. */
  forget(clientId: string): void;
}

/**
 * Looks system applications up. One that was found is kept for `keepMs`: a service that asks a thousand
 * times a second costs one read a second, and what changes or goes bites that soon. Who is not found is
 * asked for again each time.
 */
export const systemApplications = (pool: Pool, keepMs = KEEP_MS): SystemApplications => {
  const kept = new Map<string, AdapterPayload>();
  return {
    async find(clientId) {
      const known = kept.get(clientId);
      if (known) return known;
      if (!CLIENT_ID.test(clientId)) return undefined;
      const { rows } = await pool.query<Row>({
        name: 'system-application',
        text: SELECT,
        values: [clientId],
      });
      const [row] = rows;
      if (!row) return undefined;
      const metadata = metadataOf(row);
      kept.set(clientId, metadata);
      setTimeout(() => kept.delete(clientId), keepMs).unref();
      return metadata;
    },
    forget: (clientId) => void kept.delete(clientId),
  };
};
