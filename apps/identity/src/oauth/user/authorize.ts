import { parse, stringify } from 'node:querystring';
import { isErrorCode } from '@tessera/contracts';
import { HttpError } from '@tessera/http-kit';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { isRefusal, type Middleware } from '../forward.ts';
import { errors } from '../oidc-provider.ts';
import { userPaths } from '../paths.ts';
import { invalidRequest, tooLarge } from '../request.ts';

/** The parameters that the endpoint knows (RFC 6749, 7636, OpenID Connect Core); others have no effect. */
const knownParameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'prompt',
  'max_age',
  'login_hint',
  'ui_locales',
  'id_token_hint',
  // Not supported. The provider refuses them, because ignoring them would change what the request means.
  'request',
  'request_uri',
  'registration',
] as const;

type Parameters = Partial<Record<(typeof knownParameters)[number], string | string[]>>;

/**
 * Our own parameter in the URLs that pages return to: when the session that existed at the beginning of the
 * request was authenticated, in milliseconds since 1970, or 0 if there was none. It needs no signature,
 * because anyone who can change it could just as well remove `prompt` or `max_age`.
 */
const AUTHENTICATED_AFTER = 'authenticated_after';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
const CONTROL = /[\u0000-\u001f\u007f]/;

export interface AuthorizeQuery {
  readonly parameters: Parameters;
  /** The value of `authenticated_after` when the browser returns from a page; undefined at the beginning. */
  readonly authenticatedAfter: number | undefined;
}

/** The known parameters of an authorization request; 400 if it can never be valid. */
const knownIn = (given: ReadonlyMap<string, unknown>): Parameters => {
  if (given.has('client_secret')) {
    throw invalidRequest('client_secret must not be sent to the authorization endpoint.');
  }
  const parameters: Record<string, string | string[]> = {};
  for (const name of knownParameters) {
    const value = given.get(name);
    if (value === undefined || value === '') continue;
    if ([value].flat().some((text) => CONTROL.test(String(text)))) {
      throw invalidRequest(`${name} contains invalid characters.`);
    }
    parameters[name] = value as string | string[];
  }
  if ((parameters.response_mode ?? 'query') !== 'query') {
    throw invalidRequest('The answer comes in the query: response_mode is not supported.');
  }
  return parameters;
};

/** Reads the query of an authorization request; 400 if it can never be valid. */
export const readAuthorizeQuery = (originalUrl: string): AuthorizeQuery => {
  const start = originalUrl.indexOf('?');
  const query = parse(start < 0 ? '' : originalUrl.slice(start + 1));
  const given = new Map<string, unknown>(Object.entries(query));
  const parameters = knownIn(given);
  const begun = /^\d{1,15}$/.exec(String(given.get(AUTHENTICATED_AFTER)))?.[0];
  return { parameters, authenticatedAfter: begun === undefined ? undefined : Number(begun) };
};

/** What is read of a form with an authorization request. */
export const authorizeFields = [...knownParameters, 'client_secret'] as const;

/** Bytes of the longest URL that a form may become: servers accept 16 KiB of headers, cookies included. */
const MAX_URL = 8192;

/** The URL of a request that was sent as a form; 400 if it can never be valid, and 413 if the URL is too long. */
export const urlOfForm = (issuer: string, fields: Readonly<Record<string, string>>): string => {
  const parameters = knownIn(new Map(Object.entries(fields)));
  const url = `${issuer}${userPaths.authorization}?${stringify(parameters)}`;
  if (url.length > MAX_URL) throw tooLarge();
  return url;
};

const without = (words: string | string[] | undefined, removed: readonly string[]): string =>
  [words ?? []]
    .flat()
    .flatMap((text) => text.split(' '))
    .filter((word) => !removed.includes(word))
    .join(' ');

const withoutPrompts = (
  { prompt, ...rest }: Parameters,
  removed: readonly string[],
): Parameters => {
  const prompts = without(prompt, removed);
  return { ...rest, ...(prompts && { prompt: prompts }) };
};

const demandsAuthentication = ({ prompt, max_age }: Parameters): boolean =>
  max_age !== undefined || without(prompt, ['login']) !== without(prompt, []);

export interface CheckedQuery extends AuthorizeQuery {
  /** Whether the user has met `prompt=login` and `max_age`; the provider must not ask again. */
  readonly isAuthenticationFresh: boolean;
}

/**
 * Checks `prompt=login` and `max_age`: they are met once the user has authenticated after the request began,
 * and by nothing else. `lastAuthentication` says when the session of the browser was authenticated, null
 * without a session.
 */
export const checkFreshAuthentication = async (
  { parameters, authenticatedAfter }: AuthorizeQuery,
  lastAuthentication: () => Promise<Date | null>,
): Promise<CheckedQuery> => {
  if (!demandsAuthentication(parameters)) {
    return { parameters, authenticatedAfter: undefined, isAuthenticationFresh: false };
  }
  const last = Number((await lastAuthentication()) ?? 0);
  return {
    parameters,
    authenticatedAfter: authenticatedAfter ?? last,
    isAuthenticationFresh: authenticatedAfter !== undefined && last > authenticatedAfter,
  };
};

const withoutAuthentication = ({ max_age: _, ...rest }: Parameters): Parameters =>
  withoutPrompts(rest, ['login']);

/** The request as the provider takes it: the issuer is the only resource (RFC 8707). */
export const providerUrl = (
  issuer: string,
  { parameters, isAuthenticationFresh }: CheckedQuery,
): string => {
  const query = isAuthenticationFresh ? withoutAuthentication(parameters) : parameters;
  return `${userPaths.authorization}?${stringify({ ...query, resource: issuer })}`;
};

/** `prompt` values that a page satisfies: the provider would ask for them again. */
const SATISFIED_BY_PAGE = ['select_account', 'create'];

/** The URL that a page returns the browser to: the request as it came, without what the page satisfies. */
export const returnUrl = (
  issuer: string,
  { parameters, authenticatedAfter }: AuthorizeQuery,
): string => {
  const query = {
    ...withoutPrompts(parameters, SATISFIED_BY_PAGE),
    ...(authenticatedAfter !== undefined && { [AUTHENTICATED_AFTER]: `${authenticatedAfter}` }),
  };
  return `${issuer}${userPaths.authorization}?${stringify(query)}`;
};

/** The same for a request that the provider has stored, to begin it again. */
export const returnUrlOfStored = (
  issuer: string,
  stored: Readonly<Record<string, unknown>>,
): string => {
  const parameters: Parameters = {};
  for (const name of knownParameters) {
    const value = stored[name];
    if (typeof value === 'string') parameters[name] = value;
  }
  return returnUrl(issuer, { parameters, authenticatedAfter: undefined });
};

/** RFC 7636 section 4.2. */
const CHALLENGE = /^[\w.~-]{43,128}$/;

const hasChallenge = ({ oidc: { params } }: KoaContextWithOIDC): boolean =>
  params?.code_challenge_method === 'S256' && CHALLENGE.test(String(params.code_challenge));

/**
 * Makes an invalid request without an S256 challenge 400 instead of a redirect to the client, because no
 * genuine client sends one (identity.md section 4.4).
 */
export const refuseWithoutChallenge = (provider: Provider): void => {
  provider.on('authorization.error', (ctx, error) => {
    if (error instanceof errors.InvalidRequest && !hasChallenge(ctx)) error.allow_redirect = false;
  });
};

const FOUND = 302;

/** Whether a request waits for consent, or has waited for it. */
const concernsConsent = ({ oidc }: KoaContextWithOIDC): boolean =>
  oidc?.entities.Interaction?.prompt.name === 'consent';

/**
 * Turns the provider's answers into ours for browsers: redirects are 302 without a body, errors go to the
 * app's error handler, which renders a page or JSON, and the only cookie is the one that resumes a request
 * after consent. The cookie of the session is set by sign-in alone, and the other pages need none.
 */
export const browserResponse =
  (resumeCookie: string): Middleware =>
  async (ctx, next) => {
    await next();
    const cookies = [ctx.response.headers['set-cookie'] ?? []].flat();
    const resume = cookies.filter((cookie) => cookie.startsWith(`${resumeCookie}=`));
    ctx.remove('Set-Cookie');
    if (ctx.method === 'GET' && isRefusal(ctx.status, ctx.body)) {
      const { error, error_description: description = error } = ctx.body;
      ctx.app.emit(
        'server_error',
        ctx,
        new HttpError(ctx.status, isErrorCode(error) ? error : 'invalid_request', description),
      );
      return;
    }
    if (resume.length > 0 && concernsConsent(ctx as KoaContextWithOIDC)) {
      ctx.set('Set-Cookie', resume);
    }
    if (ctx.status < 300 || ctx.status >= 400) return;
    ctx.status = FOUND;
    ctx.body = '';
    ctx.remove('Content-Type');
  };
