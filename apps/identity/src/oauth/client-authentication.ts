import { clientAddress, HttpError } from '@tessera/http-kit';
import type { Request } from 'express';
import type { Provider } from 'oidc-provider';
import type { ClientAttempts } from './client-attempts.ts';
import { invalidRequest, type Parameters } from './request.ts';

export type AuthenticatedClient = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>;

/** The OpenAPI security scheme of clients, which may authenticate in the body instead. */
export const clientScheme = {
  type: 'http',
  scheme: 'basic',
  description:
    'The id and the secret of an OAuth client, each encoded as in a form (RFC 6749 section 2.3.1). Instead, the body may contain `client_id` and `client_secret`; a public client sends its `client_id` alone.',
};

/** What a client presents to authenticate. */
export interface PresentedCredentials {
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  /** The client's IP address. */
  readonly address: string;
}

/** RFC 6749 section 5.2: also if no credentials, or those of an unknown scheme, are presented. */
const invalidClient = (challenge: string, description: string): HttpError =>
  new HttpError(401, 'invalid_client', description, { headers: { 'WWW-Authenticate': challenge } });

const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;

/** RFC 6749 section 2.3.1: both parts are encoded as in a form, before they are joined. */
const decoded = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '));

const fromBasic = (authorization: string): { clientId: string; secret: string } | undefined => {
  const encoded = BASIC.exec(authorization)?.[1];
  const [, id, secret] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  try {
    return { clientId: decoded(id), secret: decoded(secret) };
  } catch {
    return undefined;
  }
};

/** The credentials of a request, from HTTP Basic or the body; undefined if there are none. */
export const credentialsOf = (
  req: Request,
  { client_id, client_secret }: Parameters,
): PresentedCredentials | undefined => {
  const { authorization } = req.headers;
  const given =
    authorization === undefined
      ? client_id && { clientId: client_id, secret: client_secret }
      : fromBasic(authorization);
  return given ? { ...given, address: clientAddress(req) ?? 'unknown' } : undefined;
};

export interface ClientAuthentication {
  readonly provider: Provider;
  readonly attempts: ClientAttempts;
  readonly challenge: string;
}

/** A public client must present no secret (RFC 6749 section 2.1). */
const isGenuine = async (
  client: AuthenticatedClient,
  secret: string | undefined,
): Promise<boolean> => {
  if (client.clientSecret === undefined) return secret === undefined;
  return secret !== undefined && (await client.compareClientSecret(secret));
};

/**
 * Authenticates a client by HTTP Basic or by the body, but not by both; a public client by its id. Throws 401
 * `invalid_client` otherwise, and 429 after too many failures, before the database is read.
 */
export const authenticateClient = async (
  { provider, attempts, challenge }: ClientAuthentication,
  req: Request,
  parameters: Parameters,
): Promise<AuthenticatedClient> => {
  const { client_id, client_secret } = parameters;
  if (req.headers.authorization !== undefined && client_secret !== undefined) {
    throw invalidRequest('The client must authenticate in one way only.');
  }
  const given = credentialsOf(req, parameters);
  if (!given) {
    throw invalidClient(challenge, 'The client must authenticate, by HTTP Basic or in the body.');
  }
  if (client_id !== undefined && client_id !== given.clientId) {
    throw invalidRequest('client_id is not the one of HTTP Basic.');
  }
  attempts.admit(given);
  const client = await provider.Client.find(given.clientId);
  if (client && (await isGenuine(client, given.secret))) {
    attempts.succeeded(given);
    return client;
  }
  await attempts.failed(given);
  throw invalidClient(challenge, 'The client is unknown, or its secret is wrong.');
};
