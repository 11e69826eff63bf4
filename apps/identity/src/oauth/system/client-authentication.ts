import { HttpError } from '@tessera/http-kit';
import type { Provider } from 'oidc-provider';
import { invalidRequest, type Parameters } from '../request.ts';

type Client = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>;

interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** RFC 6749 section 5.2: also where nobody tried, or by a scheme that there is not. */
const invalidClient = (challenge: string, description: string): HttpError =>
  new HttpError(401, 'invalid_client', description, { headers: { 'WWW-Authenticate': challenge } });

const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;

/** RFC 6749 section 2.3.1: both parts are encoded as in a form, before they are joined. */
const decoded = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '));

const fromBasic = (authorization: string): Credentials | undefined => {
  const encoded = BASIC.exec(authorization)?.[1];
  const [, id, secret] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  try {
    return { id: decoded(id), secret: decoded(secret) };
  } catch {
    return undefined;
  }
};

/** The client that authenticates by HTTP Basic or in the body, never by both; 401 `invalid_client` otherwise. */
export const authenticateClient = async (
  provider: Provider,
  authorization: string | undefined,
  { client_id, client_secret }: Parameters,
  challenge: string,
): Promise<Client> => {
  if (authorization !== undefined && client_secret !== undefined) {
    throw invalidRequest('The client must authenticate in one way only.');
  }
  const given =
    authorization === undefined
      ? client_id && client_secret && { id: client_id, secret: client_secret }
      : fromBasic(authorization);
  if (!given) {
    throw invalidClient(challenge, 'The client must authenticate, by HTTP Basic or in the body.');
  }
  if (client_id !== undefined && client_id !== given.id) {
    throw invalidRequest('client_id is not the one of HTTP Basic.');
  }
  const client = await provider.Client.find(given.id);
  if (client && (await client.compareClientSecret(given.secret))) return client;
  throw invalidClient(challenge, 'The client is unknown, or its secret is wrong.');
};
