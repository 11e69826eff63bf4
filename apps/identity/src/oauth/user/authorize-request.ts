import { parse, stringify } from 'node:querystring';
import { invalidRequest } from '../request.ts';
import { API_SCOPE } from './grants.ts';
import { userPaths } from './paths.ts';

/** What the endpoint knows (RFC 6749, 7636, OpenID Connect Core); every other parameter has no effect. */
export const authorizeParameters = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state'],
  ...['code_challenge', 'code_challenge_method'],
  ...['nonce', 'prompt', 'max_age', 'login_hint', 'ui_locales', 'id_token_hint'],
  // Not supported, which the provider says of each: without its effect the rest would mean another thing.
  ...['request', 'request_uri', 'registration'],
] as const;

type Parameters = Partial<Record<(typeof authorizeParameters)[number], string | string[]>>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
const CONTROL = /[\u0000-\u001f\u007f]/;

const known = (query: string): Parameters => {
  const given = new Map<string, unknown>(Object.entries(parse(query)));
  if (given.has('client_secret')) {
    throw invalidRequest('client_secret does not belong into an address.');
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

const without = (words: string | string[] | undefined, word: string): string =>
  [words ?? []]
    .flat()
    .flatMap((text) => text.split(' '))
    .filter((other) => other !== word)
    .join(' ');

/** The same request once its user has signed in: what demands just that would demand it again. */
const afterSignIn = (parameters: Parameters): Parameters => {
  const { prompt, max_age, ...rest } = parameters;
  const prompts = without(prompt, 'login');
  return {
    ...rest,
    ...(prompts && { prompt: prompts }),
    ...(max_age !== undefined && Number(max_age) !== 0 && { max_age }),
  };
};

export interface AuthorizeRequest {
  /** As the provider takes it. */
  readonly url: string;
  /** Where a page sends the browser when it is done. */
  readonly returnTo: string;
}

/** Checks the query of an authorization request; 400 in both shapes where it can never be right. */
export const authorizeRequest = (issuer: string, originalUrl: string): AuthorizeRequest => {
  const start = originalUrl.indexOf('?');
  const parameters = known(start < 0 ? '' : originalUrl.slice(start + 1));
  const scope = `${without(parameters.scope, API_SCOPE)} ${API_SCOPE}`.trim();
  const isRepeated = Array.isArray(parameters.scope);
  const asked = { ...parameters, ...(!isRepeated && { scope }), resource: issuer };
  return {
    url: `${userPaths.authorization}?${stringify(asked)}`,
    returnTo: `${issuer}${userPaths.authorization}?${stringify(afterSignIn(parameters))}`,
  };
};
