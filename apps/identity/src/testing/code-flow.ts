import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Response, Test } from 'supertest';
import type { User } from '../generated/prisma/client.ts';
import { digest, newSecret } from '../security/secrets.ts';
import type { TestIdentity } from './identity.ts';
import { PASSWORD } from './population.ts';

export type Fields = Readonly<Record<string, string | undefined>>;

export interface TestClient {
  readonly clientId: string;
  /** Null for a public client. */
  readonly secret: string | null;
  readonly redirectUri: string;
}

export interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly id_token?: string;
}

interface ClientOptions {
  readonly isPublic?: boolean;
  readonly isTrusted?: boolean;
  /** Unless told otherwise, a trusted client of no tenant is one. */
  readonly isFirstParty?: boolean;
  /** Of a third-party client: the patterns within which it may ask for permissions. */
  readonly allowedScopes?: readonly string[];
  readonly redirectUris?: readonly string[];
  readonly tenantId?: string;
}

/** What a client proves a code with (RFC 7636). */
export const pkce = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

/** The authorization code flow as a browser and a client go through it together. */
export class CodeFlow {
  readonly #identity: TestIdentity;

  constructor(identity: TestIdentity) {
    this.#identity = identity;
  }

  async client(options: ClientOptions = {}): Promise<TestClient> {
    const { isPublic = false, isTrusted = true, tenantId = null } = options;
    const { isFirstParty = isTrusted && tenantId === null } = options;
    const redirectUris = options.redirectUris ?? ['https://panel.test/callback'];
    const clientId = `client-${randomUUID().slice(0, 8)}`;
    const secret = isPublic ? null : newSecret();
    await this.#identity.context.database.oAuthClient.create({
      data: {
        clientId,
        name: 'Panel',
        isTrusted,
        isFirstParty,
        tenantId,
        allowedScopes: [...(options.allowedScopes ?? [])],
        redirectUris: [...redirectUris],
        secretHash: secret === null ? null : digest(secret),
      },
    });
    return { clientId, secret, redirectUri: redirectUris[0] ?? '' };
  }

  /** Signs a user in and gives the session's cookie. */
  async signIn({ email }: User): Promise<string> {
    const { status, headers } = await this.#identity.http
      .post('/api/auth/login')
      .send({ email, password: PASSWORD });
    const cookies = [headers['set-cookie'] ?? []].flat();
    const cookie = cookies.find((text) => /session=/.test(text))?.split(';')[0] ?? '';
    if (status !== 200 || !cookie) throw new Error(`${email} cannot sign in.`);
    return cookie;
  }

  /** What a correct authorization request asks for, but for what a test changes. */
  query({ clientId, redirectUri }: TestClient, challenge: string, changes: Fields = {}): Fields {
    return {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    };
  }

  authorize(query: Fields, cookie?: string): Test {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const request = this.#identity.http
      .get(`/oauth/authorize?${new URLSearchParams(given as [string, string][])}`)
      .redirects(0);
    return cookie ? request.set('cookie', cookie) : request;
  }

  /** Goes to the end of a redirect of an authorization and gives what is said there. */
  told({ headers }: Response): URLSearchParams {
    const { search, hash } = new URL(headers.location ?? '');
    return new URLSearchParams(search || hash.slice(1));
  }

  /** A code for a signed-in user, with the verifier that goes with it. */
  async code(
    client: TestClient,
    cookie: string,
    changes: Fields = {},
  ): Promise<{ code: string; verifier: string }> {
    const { verifier, challenge } = pkce();
    const answer = await this.authorize(this.query(client, challenge, changes), cookie);
    const code = answer.status === 302 ? this.told(answer).get('code') : null;
    if (code === null) throw new Error(`No code: ${answer.headers.location ?? answer.text}`);
    return { code, verifier };
  }

  /** Asks for a token as the client, which authenticates in the body. */
  token({ clientId, secret }: TestClient, body: Fields): Test {
    return this.#identity.http
      .post('/oauth/token')
      .type('form')
      .send({ client_id: clientId, ...(secret && { client_secret: secret }), ...body });
  }

  exchange(client: TestClient, { code, verifier }: { code: string; verifier: string }): Test {
    return this.token(client, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: client.redirectUri,
    });
  }

  refresh(client: TestClient, refreshToken: string): Test {
    return this.token(client, { grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  /** The tokens of a new authorization. */
  async tokens(client: TestClient, cookie: string, changes: Fields = {}): Promise<TokenAnswer> {
    const { status, body } = await this.exchange(client, await this.code(client, cookie, changes));
    if (status !== 200) throw new Error(`No tokens: ${JSON.stringify(body)}`);
    return body;
  }
}

const anything = expect.stringMatching(/\S/);

/** A refusal that both kinds of client can read (decision B1). */
export const oauthRefusal = (error: string): object => ({
  success: false,
  error,
  error_description: anything,
  message: anything,
});

/** A direct answer to an authorization request, from which the browser goes nowhere. */
export const expectDirect = (answer: Response, error = 'invalid_request'): void => {
  expect([answer.status, answer.body]).toEqual([400, oauthRefusal(error)]);
  expect(answer.headers).not.toHaveProperty('location');
};

/** The page that a browser is sent to, and where that one is to send it back. */
export const pageOf = ({ status, headers }: Response): { page: string; returnTo: URL } => {
  expect(status).toBe(302);
  const page = new URL(headers.location ?? '');
  const returnTo = new URL(page.searchParams.get('return_to') ?? '');
  return { page: page.origin + page.pathname, returnTo };
};
