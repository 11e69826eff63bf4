import { parse } from 'cookie';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Provider } from 'oidc-provider';
import type { Database } from '../../database.ts';
import { originOf } from '../../origin.ts';
import type { SigningKeys } from '../../tokens/signing-keys.ts';
import { challengeOf, type Handle, handledBy, type Shapes } from '../forward.ts';
import { browserRequest, providerRequest } from '../request.ts';
import { authorizeRequest } from './authorize-request.ts';
import { asBrowserAnswer } from './browser-answer.ts';
import { findClient } from './clients.ts';
import { Consents } from './consents.ts';
import { type Current, nothingUnheard, within } from './current.ts';
import { inOneTransaction } from './exchange.ts';
import { userPaths } from './paths.ts';
import { createUserProvider, type ProviderSettings } from './provider.ts';
import { findWebSession } from './web-session.ts';

const shapes: Shapes = {
  token: ({ access_token, token_type, expires_in, refresh_token, id_token }, { oidc }) => ({
    ...{ access_token, token_type, expires_in, refresh_token, id_token },
    // All that was granted, of which the access token itself names its audience's part.
    scope: oidc.entities.RefreshToken?.scope,
  }),
};

const tokenParameters = [
  ...['client_id', 'client_secret', 'grant_type'],
  ...['code', 'code_verifier', 'redirect_uri', 'refresh_token'],
];

/** An application that sends its users here. */
export interface Application {
  readonly name: string;
  /** Where the browser goes in the end. */
  readonly redirectUri: string;
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
  readonly #keys: SigningKeys;
  readonly #settings: ProviderSettings;
  readonly #unheard = nothingUnheard();
  #made: Made | undefined;

  constructor(database: Database, keys: SigningKeys, settings: ProviderSettings) {
    this.#database = database;
    this.#keys = keys;
    this.#settings = settings;
    this.consents = new Consents(database, async () => (await this.#current()).provider);
  }

  /** `GET /oauth/authorize`: to a page, or back to the client with a code. */
  readonly authorize: RequestHandler = async (req, res, next) => {
    const { issuer } = this.#settings;
    const { url, returnTo } = await authorizeRequest(issuer, req.originalUrl, async () => {
      const secret = parse(req.headers.cookie ?? '')[this.#settings.cookieName];
      const session = secret ? await findWebSession(this.#database, secret) : undefined;
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
    const request = await providerRequest(req, res, { known: tokenParameters, challenge });
    await this.#handle(request, { req, res, next });
  };

  async #handle(
    request: Request,
    { req, res, next }: { req: Request; res: Response; next: NextFunction },
    about: Partial<Current> = {},
  ): Promise<void> {
    const { handle } = await this.#current();
    const origin = originOf(req);
    const known = { ...about, db: this.#database, origin, news: [], unheard: this.#unheard };
    await within(known, () => handle(request, res, next));
  }

  /**
   * The provider with the keys of the moment: it takes its keys when it is made, and all else that it
   * keeps is in the database, so that another one can go on.
   */
  async #current(): Promise<Made> {
    const keys = await this.#keys.forSigning();
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
