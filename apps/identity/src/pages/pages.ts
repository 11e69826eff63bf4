import { forwarded, type Limits, type RouteTable } from '@tessera/http-kit';
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
import { routesOf } from './page-routes.ts';
import type { PageServices } from './page-services.ts';
import { passwordPages } from './password.pages.ts';
import { permissionLinesOf } from './permission-lines.ts';
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
export const pageRoutes = (services: PageServices, limits: Limits): RouteTable => {
  const { config, authorizationServer } = services;
  const { minLength } = config.passwords;
  const cookies = signInCookies(config);
  const mailed = new MailedAddress(config);
  const permissionLines = permissionLinesOf(config.permissions);
  const pages = {
    ...signInPages({ ...services, cookies }),
    ...sessionPages({ ...services, cookies }),
    ...passwordPages({ passwords: services.passwords, minLength, mailed }),
    ...registrationPages({
      registration: services.registration,
      isOpen: config.registrationEnabled,
      isLocal: config.isLocal,
      lifetime: config.lifetimes.registration,
      minLength,
      mailed,
    }),
    ...confirmationPages({
      confirmation: services.confirmation,
      registration: services.registration,
      isLocal: config.isLocal,
      minLength,
      mailed,
    }),
    ...invitationPages({ invitations: services.invitations, issuer: config.issuer, minLength }),
    ...emailChangePages(services),
    ...accountPages({ ...services, permissionLines }),
    mailSent: mailSentPage(mailed),
    result: resultPage,
    consent: consentPage({ consents: authorizationServer.consents, config, permissionLines }),
  };
  const forgery = new ForgeryGuard(config);
  const options = {
    config,
    minLength,
    limits,
    brand: config,
    authentication: services.authentication,
    authorizationServer,
    forgery,
    accountBanner: accountBanner(services),
    reauthentication: new PageReauthentication({ ...services, cookies, forgery, minLength }),
  };
  return {
    ...routesOf(pages, options),
    ...sessionStateRoutes(options),
    ...assetRoutes(config.brand),
    wellKnownChangePassword,
  };
};
