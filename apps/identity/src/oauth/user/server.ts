import { parse } from 'cookie';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Provider } from 'oidc-provider';
import type { Database } from '../../database.ts';
import { originOf } from '../../origin/origin.ts';
import type { SessionUses } from '../../tokens/session-uses.ts';
import type { SigningKeys } from '../../tokens/signing-keys.ts';
import type { ClientAttempts } from '../client-attempts.ts';
import {
  authenticateClient,
  credentialsOf,
  type GivenCredentials,
} from '../client-authentication.ts';
import { challengeOf, type Handle, handledBy, type Shapes } from '../forward.ts';
import { browserRequest, providerRequest, readParameters, required } from '../request.ts';
import { authorizeRequest } from './authorize-request.ts';
import { asBrowserAnswer } from './browser-answer.ts';
import { findClient } from './clients.ts';
import { Consents } from './consents.ts';
import { type Current, current, nothingUnheard, within } from './current.ts';
import { inOneTransaction } from './exchange.ts';
import { userPaths } from './paths.ts';
import { createUserProvider, type ProviderSettings } from './provider.ts';
import { type GenuineTokenId, revokeForClient } from './revocation.ts';
import { findWebSession } from './web-session.ts';

const shapes: Shapes = {
  token: ({ access_token, token_type, expires_in, refresh_token, id_token }) => ({
    access_token,
    token_type,
    expires_in,
    refresh_token,
    id_token,
    // All that was granted; the provider names the permissions alone.
    scope: current().scopes?.join(' '),
  }),
};

const tokenParameters = [
  'client_id',
  'client_secret',
  'grant_type',
  'code',
  'code_verifier',
  'redirect_uri',
  'refresh_token',
  'scope',
];

const revocationParameters = ['client_id', 'client_secret', 'token', 'token_type_hint'];

/** An application that sends its users here. */
export interface Application {
  readonly name: string;
  /** Where the browser goes in the end. */
  readonly redirectUri: string;
}

/** What the server is made of, besides the settings of its provider. */
export interface ServerParts {
  readonly database: Database;
  readonly keys: SigningKeys;
  readonly sessionUses: SessionUses;
  readonly attempts: ClientAttempts;
  readonly genuineId: GenuineTokenId;
}

interface Made {
  /** The keys that it was made with. */
  readonly kids: string;
  readonly provider: Provider;
  readonly handle: Handle;
}

/** The authorization server for people: where browsers begin, and where clients fetch tokens. */
export class AuthorizationServer {
  readonly consents: Consents;
  readonly #database: Database;
  readonly #parts: ServerParts;
  readonly #settings: ProviderSettings;
  readonly #unheard = nothingUnheard();
  #made: Made | undefined;

  constructor(parts: ServerParts, settings: ProviderSettings) {
    const { database } = parts;
    this.#database = database;
    this.#parts = parts;
    this.#settings = settings;
    this.consents = new Consents(
      database,
      parts.sessionUses,
      async () => (await this.#current()).provider,
    );
  }

  /** `GET /oauth/authorize`: to a page, or back to the client with a code. */
  readonly authorize: RequestHandler = async (req, res, next) => {
    const { issuer } = this.#settings;
    const { sessionUses } = this.#parts;
    const { url, returnTo } = await authorizeRequest(issuer, req.originalUrl, async () => {
      const secret = parse(req.headers.cookie ?? '')[this.#settings.cookieName];
      const session = secret
        ? await findWebSession(this.#database, secret, sessionUses.idleAfter)
        : undefined;
      return session?.authenticatedAt ?? null;
    });
    await this.#handle(browserRequest(req, issuer, url), { req, res, next }, { returnTo });
  };

  /** Whose authorization request an address is, where the client and its redirect URI are genuine. */
  async applicationOf(address: string): Promise<Application | null> {
    const { searchParams } = new URL(address);
    const [clientId = '', redirectUri = ''] = ['client_id', 'redirect_uri'].map(
      (name) => searchParams.get(name) ?? '',
    );
    const client = await findClient(this.#database, clientId);
    if (!client?.redirectUris.includes(redirectUri)) return null;
    return { name: client.name, redirectUri };
  }

  /** `GET /oauth/authorize/{uid}`: takes a request up again that waited for consent. */
  readonly resume: RequestHandler = async (req, res, next) => {
    const { issuer } = this.#settings;
    const url = `${userPaths.authorization}/${encodeURIComponent(String(req.params.uid))}`;
    await this.#handle(browserRequest(req, issuer, url), { req, res, next });
  };

  /** `POST /oauth/token`. */
  readonly token: RequestHandler = async (req, res, next) => {
    const challenge = challengeOf(this.#settings.issuer);
    const known = { known: tokenParameters, challenge };
    const { request, parameters } = await providerRequest(req, res, known);
    const given = credentialsOf(req, parameters);
    if (given) this.#parts.attempts.admit(given);
    await this.#handle(request, { req, res, next });
    if (given) await this.#noteAttempt(given, res);
  };

  /** `POST /oauth/revoke` (RFC 7009). */
  readonly revoke: RequestHandler = async (req, res) => {
    const { attempts, genuineId } = this.#parts;
    const parameters = await readParameters(req, res, revocationParameters);
    const challenge = challengeOf(this.#settings.issuer);
    const { provider } = await this.#current();
    const { clientId } = await within(this.#request(req), () =>
      authenticateClient({ provider, attempts, challenge }, req, parameters),
    );
    const token = required(parameters, 'token');
    await revokeForClient(this.#database, genuineId, { clientId, token });
    res.set('Cache-Control', 'no-store').json({ success: true });
  };

  /** What came of an authentication by the provider, which says so in its answer alone. */
  async #noteAttempt(given: GivenCredentials, res: Response): Promise<void> {
    const { attempts } = this.#parts;
    const { errorCode } = res.locals;
    if (errorCode === 'invalid_client') await attempts.failed(given);
    else if (res.statusCode === 200 || errorCode === 'invalid_grant') attempts.succeeded(given);
  }

  #request(req: Request): Current {
    const { database: db, sessionUses } = this.#parts;
    return { db, origin: originOf(req), news: [], unheard: this.#unheard, sessionUses };
  }

  async #handle(
    request: Request,
    { req, res, next }: { req: Request; res: Response; next: NextFunction },
    about: Partial<Current> = {},
  ): Promise<void> {
    const { handle } = await this.#current();
    await within({ ...this.#request(req), ...about }, () => handle(request, res, next));
  }

  /**
   * The provider with the keys of the moment: it takes its keys when it is made, and all else that it
   * keeps is in the database, so that another one can go on.
   */
  async #current(): Promise<Made> {
    const keys = await this.#parts.keys.forSigning();
    const kids = keys.map(({ kid }) => kid).join();
    if (this.#made?.kids !== kids) {
      const provider = createUserProvider(this.#settings, keys);
      provider.use((ctx, next) =>
        ctx.method === 'POST' ? inOneTransaction(this.#database)(ctx, next) : next(),
      );
      provider.use(asBrowserAnswer(provider.cookieName('resume')));
      this.#made = { kids, provider, handle: handledBy(provider, shapes) };
    }
    return this.#made;
  }
}
