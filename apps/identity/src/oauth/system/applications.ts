import type { AdapterPayload } from 'oidc-provider';
import type { Pool } from 'pg';

interface Row {
  readonly client_id: string;
  readonly secret_hash: Buffer;
  readonly scopes: string[];
}

const SELECT = `SELECT client_id, secret_hash, scopes FROM identity.system_applications
  WHERE client_id = $1`;

/** RFC 6749 appendix A.1; whatever else is asked for is nobody, and never reaches the database. */
const CLIENT_ID = /^[\x20-\x7e]{1,200}$/;

const metadataOf = ({ client_id, secret_hash, scopes }: Row): AdapterPayload => ({
  client_id,
  // Only the digest is known; the provider compares through `compareClientSecret`.
  client_secret: secret_hash.toString('hex'),
  allowed_scopes: scopes,
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
});

/**
 * Looks system applications up. One that was found is kept for `keepMs`: a service that asks a thousand
 * times a second costs one read a second, and what changes or goes bites that soon. Who is not found is
 * asked for again each time.
 */
export const systemApplications = (
  pool: Pool,
  keepMs = 1000,
): ((clientId: string) => Promise<AdapterPayload | undefined>) => {
  const kept = new Map<string, AdapterPayload>();
  return async (clientId) => {
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
  };
};
