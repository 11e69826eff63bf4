import type { Response } from 'express';
import type { Config } from '../config.ts';
import { type Content, type Html, html } from '../http/html.ts';
import { accountHeader, accountNavigation } from './account/frame.ts';
import type { Section } from './account/sections.ts';
import { assets, brandStyleAddress, logoAddress } from './assets.ts';
import { FORM_ID } from './form.ts';
import { languages } from './texts/texts.ts';
import { formTarget, type Reader, type Visit } from './visit.ts';

/** The content of a page without the common layout. */
export interface View {
  readonly title: string;
  readonly lead?: Content;
  readonly body?: Content;
  /** Redirect target of the form outside this service, if not the application of the visit. */
  readonly redirectTarget?: string | undefined;
  /** URL the browser is redirected to automatically. */
  readonly refresh?: string;
  /** True if the page's form is not shown. */
  readonly hasNoForm?: boolean;
  /** True if submitted values are invalid. */
  readonly hasErrors?: boolean;
  /** Section of an account page in the navigation. */
  readonly section?: Section;
  /** Banner above account pages. */
  readonly banner?: Content;
}

export type Brand = Pick<Config, 'brandName' | 'brand' | 'idleSignOut'>;

/** The default logo: four tiles, coloured by the style sheet. */
const mark = html`<svg class="mark" viewBox="0 0 24 24" width="32" height="32" aria-hidden="true" focusable="false"><rect x="1" y="1" width="10" height="10" rx="2.5"/><rect x="13" y="1" width="10" height="10" rx="2.5"/><rect x="1" y="13" width="10" height="10" rx="2.5"/><rect x="13" y="13" width="10" height="10" rx="5"/></svg>`;

/** Links; on a page with a form, buttons that submit it so that typed values are kept. */
const languageSwitch = ({ query, language: current, texts }: Reader, sendsForm: boolean): Html => {
  const choices = languages.map(({ language, name }) => {
    // Only the query: a path such as `//other.example` would lead to another site.
    const address = `?${new URLSearchParams({ ...query, ui_locales: language })}`;
    const isCurrent = language === current && html` aria-current="true"`;
    return sendsForm
      ? html`<li><button type="submit" form="${FORM_ID}" name="ui_locales" value="${language}" lang="${language}"${isCurrent}>${name}</button></li>`
      : html`<li><a href="${address}" lang="${language}" hreflang="${language}"${isCurrent}>${name}</a></li>`;
  });
  return html`<nav aria-label="${texts.language}"><ul class="languages">${choices}</ul></nav>`;
};

/** Asks an idle user whether they are still there; opened by a script. */
const idleDialog = ({ texts: { idle }, tokens }: Visit, seconds: number): Html => html`
<dialog id="idle" class="card" role="alertdialog" aria-labelledby="idle-title" aria-describedby="idle-lead" data-seconds="${seconds}">
<h2 id="idle-title">${idle.title}</h2>
<p id="idle-lead">${idle.lead} <span id="idle-left"></span></p>
<form method="post" action="/sign-out?reason=idle">
<input type="hidden" name="form_token" value="${tokens.user}">
<button type="button" id="idle-stay">${idle.stay}</button>
<button type="submit" class="plain">${idle.leave}</button>
</form>
</dialog>
<script src="${assets.idle.address}" defer></script>`;

/** The logo is decorative: the name follows it. */
const brandOf = ({ brandName, brand }: Brand): Html => {
  const logo = logoAddress(brand);
  const picture = logo === null ? mark : html`<img class="logo" src="${logo}" height="32" alt="">`;
  return html`${picture}<span>${brandName}</span>`;
};

const iconOf = ({ brand }: Brand): Html =>
  html`<link rel="icon" href="${logoAddress(brand) ?? assets.icon.address}" type="${brand.logo?.type ?? assets.icon.type}">`;

const isVisit = (reader: Reader | Visit): reader is Visit => 'tokens' in reader;

/** Whether the session ends after inactivity (decision I26). */
const hasIdleTimeout = (reader: Reader | Visit, idleSignOut: number): reader is Visit =>
  isVisit(reader) && reader.user?.isRemembered === false && idleSignOut > 0;

const documentOf = (reader: Reader | Visit, view: View, brand: Brand): Html => {
  const { brandName, idleSignOut } = brand;
  const { language, texts } = reader;
  const brandStyle = brandStyleAddress(brand.brand);
  const inAccount = view.section !== undefined && isVisit(reader) && reader;
  const sendsForm = isVisit(reader) && reader.hasForm && !view.hasNoForm;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${view.refresh !== undefined && html`<meta http-equiv="refresh" content="0; url=${view.refresh}">`}
<title>${view.hasErrors && `${texts.error}: `}${view.title} – ${brandName}</title>
${iconOf(brand)}
<link rel="stylesheet" href="${assets.style.address}">
${brandStyle !== null && html`<link rel="stylesheet" href="${brandStyle}">`}
${inAccount && html`<link rel="stylesheet" href="${assets.account.address}">`}
${isVisit(reader) && html`<script src="${assets.sendOnce.address}" defer></script>`}
${sendsForm && html`<script src="${assets.passwords.address}" defer></script>`}
</head>
<body${inAccount && html` class="account ${view.section ?? ''}"`}>
${inAccount ? accountHeader(inAccount, brandOf(brand), view.banner) : html`<header class="brand">${brandOf(brand)}</header>`}
${inAccount && view.section !== undefined && accountNavigation(inAccount, view.section)}
<main class="card">
<h1>${view.title}</h1>
${view.lead !== undefined && html`<p class="lead">${view.lead}</p>`}
${view.body}
</main>
<footer>${languageSwitch(reader, sendsForm)}</footer>
${hasIdleTimeout(reader, idleSignOut) && idleDialog(reader, idleSignOut)}
</body>
</html>
`;
};

const policyOf = (target: string | undefined, hasIdleScript: boolean): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    ...(hasIdleScript ? ["connect-src 'self'"] : []),
    `form-action 'self'${target === undefined ? '' : ` ${target}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

/**
 * Sends a page and its Content-Security-Policy; other security headers are the same for all responses.
 */
export const sendPage = (res: Response, reader: Reader | Visit, view: View, brand: Brand): void => {
  const redirectTarget =
    view.redirectTarget ?? (isVisit(reader) ? reader.application?.redirectUri : undefined);
  res
    .set(
      'Content-Security-Policy',
      policyOf(formTarget(redirectTarget), hasIdleTimeout(reader, brand.idleSignOut)),
    )
    .vary('Accept-Language')
    .type('html');
  res.send(documentOf(reader, view, brand).markup);
};
