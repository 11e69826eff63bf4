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

/** Thrown to redirect the browser to another page. */
export class Redirect extends Error {
  readonly address: string;

  constructor(address: string) {
    super(`Redirect to ${address}`);
    this.address = address;
  }
}

/** What is known about a visitor from the request alone. */
export interface Reader {
  readonly req: Request;
  readonly language: Language;
  readonly texts: Texts;
  /** Query parameters that occur exactly once. */
  readonly query: Readonly<Record<string, string>>;
}

/** A visit to a page: the visitor and their destination. */
export interface Visit extends Reader {
  readonly res: Response;
  readonly origin: Origin;
  /** Authorization request or invitation to return to afterwards; null if there is none. */
  readonly returnTo: string | null;
  /** The application of that request; null if unknown. */
  readonly application: Application | null;
  /** The signed-in user; null if there is none. */
  readonly user: UserCaller | null;
  /** Page of this service to open after a sign-in without application; null for the default. */
  readonly next: string | null;
  /** CSRF tokens. */
  readonly tokens: FormTokens;
  /** The CSRF token for the form of this page. */
  readonly formToken: string;
  /** Whether the page has a form whose values a change of language must keep. */
  readonly hasForm: boolean;
  /** Whether the form of this page is answered with a file, so that the page stays open. */
  readonly isDownload: boolean;
}

/** Not a secret, so the same name in all environments. */
const languageCookie = ownCookie('language', { isLocal: true });
const ONE_YEAR = 365 * 86_400_000;

const queryOf = (req: Request): Record<string, string> =>
  Object.fromEntries(
    Object.entries(req.query).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const requestedLocales = (returnTo: string | null): string =>
  (returnTo && new URL(returnTo).searchParams.get('ui_locales')) ?? '';

/** What determines the language besides the request. */
interface LanguageContext {
  readonly user: UserCaller | null;
  readonly returnTo: string | null;
  /** Language chosen in a form. */
  readonly chosen?: string | undefined;
}

/**
 * The chosen language, else that of the user, else that requested by the application or browser.
 */
const languageOf = (req: Request, known: LanguageContext): Language =>
  languageAmong(known.chosen ?? '') ??
  languageAmong(queryOf(req).ui_locales ?? '') ??
  languageAmong(languageCookie.secretOf(req) ?? '') ??
  languageAmong(known.user?.locale ?? '') ??
  languageAmong(requestedLocales(known.returnTo)) ??
  languageAmong(localeOf(req)) ??
  'en';

export const readerOf = (
  req: Request,
  known: LanguageContext = { user: null, returnTo: null },
): Reader => {
  const language = languageOf(req, known);
  return { req, language, texts: textsOf(language), query: queryOf(req) };
};

/** Sets the language of all pages in this browser. */
export const setLanguageCookie = (res: Response, language: Language): void => {
  const { name, options } = languageCookie;
  res.cookie(name, language, { ...options, maxAge: ONE_YEAR });
};

export interface VisitDependencies {
  readonly config: Pick<Config, 'isLocal' | 'issuer'>;
  readonly authentication: Pick<Authentication, 'ofSession'>;
  readonly authorizationServer: Pick<AuthorizationServer, 'applicationOf'>;
  readonly forgery: ForgeryGuard;
}

/** The authorization request or invitation to return to; null if there is none. */
export const returnToOf = (req: Request, issuer: string): string | null => {
  const { return_to = '' } = queryOf(req);
  const isOurs = isReturnAddress(issuer, return_to) || isInvitation(issuer, return_to);
  return isOurs ? return_to : null;
};

/** Pages of this service that may follow a sign-in. */
const isAllowedNext = (path: string): boolean => path === '/password/change' || isAccountPath(path);

/** Reads a visit; `chosen` is the language chosen in a form. */
export const visitOf = async (
  use: VisitDependencies,
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
  const asked = languageAmong(chosen ?? ui_locales ?? '');
  if (asked) setLanguageCookie(res, asked);
  const tokens = forgery.tokensFor(req, res, user?.id ?? null);
  return {
    ...reader,
    res,
    returnTo,
    next: isAllowedNext(next) ? next : null,
    user,
    application: returnTo === null ? null : await authorizationServer.applicationOf(returnTo),
    tokens,
    formToken: tokens.user,
    hasForm: false,
    isDownload: false,
    origin: originOf(req),
  };
};

/** URL of another page that keeps the destination of the visit. */
export const pageAddress = (
  { returnTo, next }: Pick<Visit, 'returnTo' | 'next'>,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string => {
  const search = new URLSearchParams(query);
  if (returnTo !== null) search.set('return_to', returnTo);
  else if (next !== null) search.set('next', next);
  return `${path}${search.size > 0 ? `?${search}` : ''}`;
};

/**
 * What the sign-in page shows after a form of a visitor who is not signed in. With a notice, it is shown even if the
 * operator has a login page elsewhere, to which the page's form-action policy would block a redirect after a form.
 */
const afterForm = { notice: 'expired' } as const;

/** URL of the sign-in for a form whose session has ended. It leads back to where the visitor was. */
export const signInAddress = (req: Request, issuer: string): string => {
  const { next = '' } = queryOf(req);
  return pageAddress(
    {
      returnTo: returnToOf(req, issuer),
      next: [req.path, next].find(isAllowedNext) ?? null,
    },
    '/sign-in',
    afterForm,
  );
};

const isWeb = (address: string): boolean => /^https?:$/.test(new URL(address).protocol);

/**
 * URL to go to from a form that ends in an application. Chromium applies the page's form-action policy to every
 * redirect after a form, including those of the web application, so an intermediate page ends the form. Mobile
 * apps can only be opened by a user gesture, so they are opened directly.
 */
export const applicationRedirect = (
  redirectUri: string | undefined,
  address: string,
  query: Readonly<Record<string, string>>,
): string =>
  redirectUri !== undefined && isWeb(redirectUri)
    ? `/continue?${new URLSearchParams(query)}`
    : address;

/** Additional form-action source: the scheme of a mobile app. */
export const formTarget = (redirectUri: string | undefined): string | undefined =>
  redirectUri === undefined || isWeb(redirectUri) ? undefined : new URL(redirectUri).protocol;

/** URL of the visit's destination; a notice is shown if it is a page of this service. */
export const destination = (visit: Visit, notice?: string): string => {
  const { returnTo, next, application } = visit;
  if (returnTo === null) {
    const query = new URLSearchParams(notice === undefined ? {} : { notice });
    return `${next ?? sections.overview}${query.size > 0 ? `?${query}` : ''}`;
  }
  return applicationRedirect(application?.redirectUri, returnTo, { return_to: returnTo });
};

/** The signed-in user; other visitors are redirected to the sign-in. */
export const signedInUser = (visit: Visit): UserCaller => {
  if (visit.user) return visit.user;
  throw new Redirect(pageAddress(visit, '/sign-in', visit.req.method === 'POST' ? afterForm : {}));
};
