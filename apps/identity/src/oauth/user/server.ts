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
  type PresentedCredentials,
} from '../client-authentication.ts';
import { challengeOf, providerHandler, type ResponseShapes } from '../forward.ts';
import { userPaths } from '../paths.ts';
import { browserRequest, providerRequest, readParameters, required } from '../request.ts';
import {
  authorizeFields,
  browserResponse,
  checkFreshAuthentication,
  providerUrl,
  readAuthorizeQuery,
  returnUrl,
  urlOfForm,
} from './authorize.ts';
import { Consents } from './consents.ts';
import { createUserProvider, type ProviderSettings } from './provider.ts';
import {
  createUncertainCommits,
  type RequestContext,
  requestContext,
  runInRequest,
} from './request-context.ts';
import { type GenuineTokenId, revokeForClient } from './revocation.ts';
import { findClient } from './stores/clients.ts';
import { findWebSession } from './stores/web-sessions.ts';
import { inOneTransaction } from './token-request.ts';

const responseShapes: ResponseShapes = {
  token: ({ access_token, token_type, expires_in, refresh_token, id_token }) => ({
    access_token,
    token_type,
    expires_in,
    refresh_token,
    id_token,
    // Everything that was granted; the provider names the permissions alone.
    scope: requestContext().scopes?.join(' '),
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

/** The application that an authorization request belongs to. */
export interface Application {
  readonly name: string;
  /** Where the browser goes in the end. */
  readonly redirectUri: string;
}

/** What the server needs besides the settings of its provider. */
export interface ServerParts {
  readonly database: Database;
  readonly keys: SigningKeys;
  readonly sessionUses: SessionUses;
  readonly attempts: ClientAttempts;
  readonly genuineId: GenuineTokenId;
}

/** Express's arguments of a request. */
interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
}

interface ProviderInstance {
  /** The ids of the keys that it was created with. */
  readonly kids: string;
  readonly provider: Provider;
  readonly handle: ReturnType<typeof providerHandler>;
}

/**
 * The authorization server for people and their clients. Each endpoint is a list of steps; those that
 * oidc-provider takes, and where ours hook in, are listed in `provider.ts`.
 */
export class AuthorizationServer {
  readonly consents: Consents;
  readonly #database: Database;
  readonly #parts: ServerParts;
  readonly #settings: ProviderSettings;
  readonly #uncertainCommits = createUncertainCommits();
  #instance: ProviderInstance | undefined;

  constructor(parts: ServerParts, settings: ProviderSettings) {
    const { database, sessionUses } = parts;
    this.#database = database;
    this.#parts = parts;
    this.#settings = settings;
    const currentProvider = async () => (await this.#currentInstance()).provider;
    this.consents = new Consents(database, sessionUses, currentProvider);
  }

  /** `GET /oauth/authorize`: redirects to a page, or back to the client with a code. */
  readonly authorize: RequestHandler = async (req, res, next) => {
    const { issuer } = this.#settings;
    const query = readAuthorizeQuery(req.originalUrl);
    const checked = await checkFreshAuthentication(query, () => this.#lastAuthentication(req));
    const request = browserRequest(req, issuer, providerUrl(issuer, checked));
    await this.#handle(request, { req, res, next }, { returnTo: returnUrl(issuer, checked) });
  };

  /**
   * `POST /oauth/authorize` (OpenID Connect Core section 3.1.2.1): continues as GET. A form of another site comes
   * without the cookie of the session; the GET that follows has it.
   */
  readonly authorizeByForm: RequestHandler = async (req, res) => {
    const fields = await readParameters(req, res, authorizeFields);
    res.status(303).set('Location', urlOfForm(this.#settings.issuer, fields)).end();
  };

  /** `GET /oauth/authorize/{uid}`: resumes a request that waited for consent. */
  readonly resume: RequestHandler = async (req, res, next) => {
    const { issuer } = this.#settings;
    const url = `${userPaths.authorization}/${encodeURIComponent(String(req.params.uid))}`;
    await this.#handle(browserRequest(req, issuer, url), { req, res, next });
  };

  /** `POST /oauth/token`: exchanges a code or a refresh token. */
  readonly token: RequestHandler = async (req, res, next) => {
    const challenge = challengeOf(this.#settings.issuer);
    const { request, parameters } = await providerRequest(req, res, {
      known: tokenParameters,
      challenge,
    });
    const credentials = credentialsOf(req, parameters);
    if (credentials) this.#parts.attempts.admit(credentials);
    await this.#handle(request, { req, res, next });
    if (credentials) await this.#recordAttempt(credentials, res);
  };

  /** `POST /oauth/revoke` (RFC 7009). */
  readonly revoke: RequestHandler = async (req, res) => {
    const { attempts, genuineId } = this.#parts;
    const parameters = await readParameters(req, res, revocationParameters);
    const { provider } = await this.#currentInstance();
    const challenge = challengeOf(this.#settings.issuer);
    const { clientId } = await runInRequest(this.#contextOf(req), () =>
      authenticateClient({ provider, attempts, challenge }, req, parameters),
    );
    const token = required(parameters, 'token');
    await revokeForClient(this.#database, genuineId, { clientId, token });
    res.set('Cache-Control', 'no-store').json({ success: true });
  };

  /** The application that an authorization URL belongs to; null unless its redirect URI is registered. */
  async applicationOf(address: string): Promise<Application | null> {
    const { searchParams } = new URL(address);
    const clientId = searchParams.get('client_id') ?? '';
    const redirectUri = searchParams.get('redirect_uri') ?? '';
    const client = await findClient(this.#database, clientId);
    if (!client?.redirectUris.includes(redirectUri)) return null;
    return { name: client.name, redirectUri };
  }

  /** When the browser's session was authenticated; null without a session. */
  async #lastAuthentication(req: Request): Promise<Date | null> {
    const secret = parse(req.headers.cookie ?? '')[this.#settings.cookieName];
    if (!secret) return null;
    const { idleAfter } = this.#parts.sessionUses;
    const session = await findWebSession(this.#database, secret, idleAfter);
    return session?.authenticatedAt ?? null;
  }

  /** The provider authenticates the client itself, and tells the result in its answer only. */
  async #recordAttempt(credentials: PresentedCredentials, res: Response): Promise<void> {
    const { attempts } = this.#parts;
    const { errorCode } = res.locals;
    if (errorCode === 'invalid_client') await attempts.failed(credentials);
    else if (res.statusCode === 200 || errorCode === 'invalid_grant') {
      attempts.succeeded(credentials);
    }
  }

  #contextOf(req: Request): RequestContext {
    const { database: db, sessionUses } = this.#parts;
    const uncertainCommits = this.#uncertainCommits;
    return { db, origin: originOf(req), events: [], uncertainCommits, sessionUses };
  }

  async #handle(
    request: Request,
    { req, res, next }: Exchange,
    more: Partial<RequestContext> = {},
  ): Promise<void> {
    const { handle } = await this.#currentInstance();
    await runInRequest({ ...this.#contextOf(req), ...more }, () => handle(request, res, next));
  }

  /**
   * The provider with the current signing keys. It takes its keys when it is created; everything else that
   * it stores is in the database, so a new instance can take over.
   */
  async #currentInstance(): Promise<ProviderInstance> {
    const keys = await this.#parts.keys.forSigning();
    const kids = keys.map(({ kid }) => kid).join();
    if (this.#instance?.kids !== kids) {
      const provider = createUserProvider(this.#settings, keys);
      provider.use((ctx, next) =>
        ctx.method === 'POST' ? inOneTransaction(this.#database)(ctx, next) : next(),
      );
      provider.use(browserResponse(provider.cookieName('resume')));
      this.#instance = { kids, provider, handle: providerHandler(provider, responseShapes) };
    }
    return this.#instance;
  }
}
