import type { Request, Response } from 'express';
import type { Config } from '../config.ts';
import { ownCookie, sessionCookie } from '../http/session-cookie.ts';
import { isInvitation, isReturnAddress } from '../oauth/user/pages.ts';
import type { Application, AuthorizationServer } from '../oauth/user/server.ts';
import { localeOf, type Origin, originOf } from '../origin/origin.ts';
import type { Authentication } from '../tokens/authenticate.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { isAccountPath, sections } from './account/sections.ts';
import type { ForgeryGuard, FormTokens } from './forgery.ts';
import { type Language, languageAmong, type Texts, textsOf } from './texts/texts.ts';

/** Sends the browser elsewhere in the place of a page. */
export class Elsewhere extends Error {
  readonly address: string;

  constructor(address: string) {
    super(`Go to ${address}`);
    this.address = address;
  }
}

/** Who reads a page, as far as the request alone tells. */
export interface Reader {
  readonly req: Request;
  readonly language: Language;
  readonly texts: Texts;
  /** Parameters that are given once. */
  readonly query: Readonly<Record<string, string>>;
}

/** Somebody at a page, and what they came for. */
export interface Visit extends Reader {
  readonly res: Response;
  readonly origin: Origin;
  /** The authorization request, or the invitation, that goes on when they are done; null where there is none. */
  readonly returnTo: string | null;
  /** Whose request that is; null where it is nobody's whom we know. */
  readonly application: Application | null;
  /** Who is signed in; null where nobody is. */
  readonly user: UserCaller | null;
  /** The page of ours that follows a sign-in which no application asked for; null for the usual one. */
  readonly next: string | null;
  /** Prove that a form is from one of our pages. */
  readonly tokens: FormTokens;
  /** Of these, the one for the form of this page. */
  readonly formToken: string;
  /** Whether this page has a form, with values that a change of language must keep. */
  readonly hasForm: boolean;
}

/** No secret, and so the same everywhere. */
const languageCookie = ownCookie('language', { isLocal: true });
const ONE_YEAR = 365 * 86_400_000;

const queryOf = (req: Request): Record<string, string> =>
  Object.fromEntries(
    Object.entries(req.query).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const localesAsked = (returnTo: string | null): string =>
  (returnTo && new URL(returnTo).searchParams.get('ui_locales')) ?? '';

/** What a language can be told from, beside the request. */
interface Known {
  readonly user: UserCaller | null;
  readonly returnTo: string | null;
  /** What was pressed in a form. */
  readonly chosen?: string | undefined;
}

/** What they chose; else what is known of them; else what the application or the browser asks for. */
const languageOf = (req: Request, known: Known): Language =>
  languageAmong(known.chosen ?? '') ??
  languageAmong(queryOf(req).ui_locales ?? '') ??
  languageAmong(languageCookie.secretOf(req) ?? '') ??
  languageAmong(known.user?.locale ?? '') ??
  languageAmong(localesAsked(known.returnTo)) ??
  languageAmong(localeOf(req)) ??
  'en';

export const readerOf = (req: Request, known: Known = { user: null, returnTo: null }): Reader => {
  const language = languageOf(req, known);
  return { req, language, texts: textsOf(language), query: queryOf(req) };
};

/** Makes a language that of every page in this browser. */
export const keepLanguage = (res: Response, language: Language): void => {
  const { name, options } = languageCookie;
  res.cookie(name, language, { ...options, maxAge: ONE_YEAR });
};

export interface Visits {
  readonly config: Pick<Config, 'isLocal' | 'issuer'>;
  readonly authentication: Pick<Authentication, 'ofSession'>;
  readonly authorizationServer: Pick<AuthorizationServer, 'applicationOf'>;
  readonly forgery: ForgeryGuard;
}

/** The authorization request, or the invitation, that a page was opened for; null where there is none. */
export const returnToOf = (req: Request, issuer: string): string | null => {
  const { return_to = '' } = queryOf(req);
  const isOurs = isReturnAddress(issuer, return_to) || isInvitation(issuer, return_to);
  return isOurs ? return_to : null;
};

/** Pages of ours that somebody may be sent to once they have signed in. */
const isOwnGoal = (path: string): boolean => path === '/password/change' || isAccountPath(path);

/** Reads a visit; `chosen` is the language that was pressed in a form. */
export const visitOf = async (
  use: Visits,
  req: Request,
  res: Response,
  chosen?: string,
): Promise<Visit> => {
  const { config, authentication, authorizationServer, forgery } = use;
  const secret = sessionCookie(config).secretOf(req);
  const user = (secret !== null && (await authentication.ofSession(secret))) || null;
  const { next = '', ui_locales } = queryOf(req);
  const returnTo = returnToOf(req, config.issuer);
  const reader = readerOf(req, { user, returnTo, chosen });
  if ((chosen ?? ui_locales) !== undefined) keepLanguage(res, reader.language);
  const tokens = forgery.tokensFor(req, res, user?.id ?? null);
  return {
    ...reader,
    res,
    returnTo,
    next: isOwnGoal(next) ? next : null,
    user,
    application: returnTo === null ? null : await authorizationServer.applicationOf(returnTo),
    tokens,
    formToken: tokens.user,
    hasForm: false,
    origin: originOf(req),
  };
};

/** The address of another page of the same visit: what they came for goes along. */
export const onwards = (
  { returnTo, next }: Pick<Visit, 'returnTo' | 'next'>,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string => {
  const search = new URLSearchParams(query);
  if (returnTo !== null) search.set('return_to', returnTo);
  else if (next !== null) search.set('next', next);
  return `${path}${search.size > 0 ? `?${search}` : ''}`;
};

const isWeb = (address: string): boolean => /^https?:$/.test(new URL(address).protocol);

/**
 * Where a form leads that ends in an application. Chromium holds every redirect that follows a form against
 * the policy of its page, also those that a web application makes of its own: a page in between ends the
 * form. An app on a phone may only be opened by somebody's own hand, so there it goes on directly.
 */
export const intoApplication = (
  redirectUri: string | undefined,
  address: string,
  query: Readonly<Record<string, string>>,
): string =>
  redirectUri !== undefined && isWeb(redirectUri)
    ? `/continue?${new URLSearchParams(query)}`
    : address;

/** What the policy of a page lets its forms lead to, beyond this service: the scheme of an app. */
export const formTarget = (redirectUri: string | undefined): string | undefined =>
  redirectUri === undefined || isWeb(redirectUri) ? undefined : new URL(redirectUri).protocol;

/** Where a visit leads in the end; a notice is shown there if that is a page of ours. */
export const goal = (visit: Visit, notice?: string): string => {
  const { returnTo, next, application } = visit;
  if (returnTo === null) {
    const query = new URLSearchParams(notice === undefined ? {} : { notice });
    return `${next ?? sections.overview}${query.size > 0 ? `?${query}` : ''}`;
  }
  return intoApplication(application?.redirectUri, returnTo, { return_to: returnTo });
};

/** Who is signed in; everybody else is sent to sign in first. */
export const signedInUser = (visit: Visit): UserCaller => {
  if (visit.user) return visit.user;
  throw new Elsewhere(onwards(visit, '/sign-in'));
};
