import { parse, stringify } from 'node:querystring';
import { invalidRequest } from '../request.ts';
import { userPaths } from './paths.ts';

/** What the endpoint knows (RFC 6749, 7636, OpenID Connect Core); every other parameter has no effect. */
export const authorizeParameters = [
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
  // Not supported, which the provider says of each: without its effect the rest would mean another thing.
  'request',
  'request_uri',
  'registration',
] as const;

type Parameters = Partial<Record<(typeof authorizeParameters)[number], string | string[]>>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
const CONTROL = /[\u0000-\u001f\u007f]/;

const known = (query: string): Parameters => {
  const given = new Map<string, unknown>(Object.entries(parse(query)));
  if (given.has('client_secret')) {
    throw invalidRequest('client_secret must not be sent in a URL.');
  }
  const parameters: Record<string, string | string[]> = {};
  for (const name of authorizeParameters) {
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

const without = (words: string | string[] | undefined, removed: readonly string[]): string =>
  [words ?? []]
    .flat()
    .flatMap((text) => text.split(' '))
    .filter((word) => !removed.includes(word))
    .join(' ');

/**
 * Our own parameter in the URLs that pages return to: when the session that existed at the beginning of the
 * request was authenticated, in milliseconds since 1970, or 0 if there was none. It needs no signature,
 * because anyone who can change it could just as well remove `prompt` or `max_age`.
 */
const AUTHENTICATED_AFTER = 'authenticated_after';

const demandsAuthentication = ({ prompt, max_age }: Parameters): boolean =>
  max_age !== undefined || without(prompt, ['login']) !== without(prompt, []);

const withoutPrompts = (
  { prompt, ...rest }: Parameters,
  removed: readonly string[],
): Parameters => {
  const prompts = without(prompt, removed);
  return { ...rest, ...(prompts && { prompt: prompts }) };
};

/** The same request without what demands an authentication, once that has happened. */
const withoutDemand = ({ max_age: _, ...rest }: Parameters): Parameters =>
  withoutPrompts(rest, ['login']);

/** The same request once a page was shown: the prompts that ask for no more than that would ask again. */
const afterPage = (parameters: Parameters): Parameters =>
  withoutPrompts(parameters, ['select_account', 'create']);

const addressOf = (
  issuer: string,
  parameters: Readonly<Record<string, string | string[] | undefined>>,
): string => `${issuer}${userPaths.authorization}?${stringify(parameters)}`;

/** The address of a request that the provider has kept, to begin it again. */
export const returnAddress = (issuer: string, kept: Readonly<Record<string, unknown>>): string => {
  const parameters: Record<string, string> = {};
  for (const name of authorizeParameters) {
    const value = kept[name];
    if (typeof value === 'string') parameters[name] = value;
  }
  return addressOf(issuer, afterPage(parameters));
};

export interface AuthorizeRequest {
  /** As the provider takes it. */
  readonly url: string;
  /** Where a page sends the browser when it is done. */
  readonly returnTo: string;
}

const queryOf = (originalUrl: string): string => {
  const start = originalUrl.indexOf('?');
  return start < 0 ? '' : originalUrl.slice(start + 1);
};

/**
 * Checks the query of an authorization request; 400 in both shapes where it can never be right. `prompt=login`
 * and `max_age` are met by an authentication since the request began, and by nothing else that its pages
 * lead to: `lastAuthentication` tells when the session of the browser was authenticated, null without one.
 */
export const authorizeRequest = async (
  issuer: string,
  originalUrl: string,
  lastAuthentication: () => Promise<Date | null>,
): Promise<AuthorizeRequest> => {
  const query = queryOf(originalUrl);
  const parameters = known(query);
  let asked = parameters;
  let comingBack: Readonly<Record<string, string | string[] | undefined>> = afterPage(parameters);
  if (demandsAuthentication(parameters)) {
    const last = Number((await lastAuthentication()) ?? 0);
    const begun = /^\d{1,15}$/.exec(String(parse(query)[AUTHENTICATED_AFTER]))?.[0];
    comingBack = { ...comingBack, [AUTHENTICATED_AFTER]: begun ?? `${last}` };
    if (begun !== undefined && last > Number(begun)) asked = withoutDemand(parameters);
  }
  return {
    url: `${userPaths.authorization}?${stringify({ ...asked, resource: issuer })}`,
    returnTo: addressOf(issuer, comingBack),
  };
};
