import { forwarded, type Limits, type RouteTable } from '@tessera/http-kit';
import type { Context } from '../context.ts';
import { signInCookies } from '../features/sign-in/sign-in.cookies.ts';
import { accountPages } from './account/account.pages.ts';
import { accountBanner } from './account/banner.ts';
import { sections } from './account/sections.ts';
import { assetRoutes } from './assets.ts';
import { confirmationPages } from './confirmation.pages.ts';
import { consentPage } from './consent.page.ts';
import { emailChangePages } from './email-change.pages.ts';
import { ForgeryGuard } from './forgery.ts';
import { invitationPages } from './invitation.pages.ts';
import { mailSentPage } from './mail-sent.page.ts';
import { MailedAddress } from './mailed-address.ts';
import { routesOf } from './page.ts';
import { passwordPages } from './password.pages.ts';
import { PageReauthentication } from './reauthentication.ts';
import { registrationPages } from './registration.pages.ts';
import { resultPage } from './result.page.ts';
import { sessionPages } from './session.pages.ts';
import { sessionStateRoutes } from './session-state.routes.ts';
import { signInPages } from './sign-in.pages.ts';

/**
 * Tells password managers where to change a password (W3C, A Well-Known URL for Changing Passwords).
 */
const wellKnownChangePassword = forwarded({
  method: 'get',
  path: '/.well-known/change-password',
  summary: 'Redirect to the page that changes the password',
  isPage: true,
  responses: {},
  forward: (_req, res) => res.redirect(302, sections.password),
});

/**
 * The HTML pages, based on the same services as the JSON routes. With FRONTEND_LOGIN_URL the sign-in page
 * redirects there; other pages remain, because authorization requests and mails link to them.
 */
export const pageRoutes = (context: Context, limits: Limits): RouteTable => {
  const { config, authorizationServer } = context;
  const { minLength } = config.passwords;
  const cookies = signInCookies(config);
  const mailed = new MailedAddress(config);
  const pages = {
    ...signInPages({ ...context, cookies }),
    ...sessionPages({ ...context, cookies }),
    ...passwordPages({ passwords: context.passwords, minLength, mailed }),
    ...registrationPages({
      registration: context.registration,
      isOpen: config.registrationEnabled,
      isLocal: config.isLocal,
      lifetime: config.lifetimes.registration,
      minLength,
      mailed,
    }),
    ...confirmationPages({
      confirmation: context.confirmation,
      registration: context.registration,
      isLocal: config.isLocal,
      minLength,
      mailed,
    }),
    ...invitationPages({ invitations: context.invitations, issuer: config.issuer, minLength }),
    ...emailChangePages(context),
    ...accountPages(context),
    mailSent: mailSentPage(mailed),
    result: resultPage,
    consent: consentPage({ consents: authorizationServer.consents, config }),
  };
  const forgery = new ForgeryGuard(config);
  const options = {
    config,
    minLength,
    limits,
    brand: config,
    authentication: context.authentication,
    authorizationServer,
    forgery,
    accountBanner: accountBanner(context),
    reauthentication: new PageReauthentication({ ...context, cookies, forgery, minLength }),
  };
  return {
    ...routesOf(pages, options),
    ...sessionStateRoutes(options),
    ...assetRoutes(config.brand),
    wellKnownChangePassword,
  };
};
