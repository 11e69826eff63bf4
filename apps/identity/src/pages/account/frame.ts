import { type Content, type Html, html } from '../../http/html.ts';
import type { Visit } from '../visit.ts';
import { type Section, sections } from './sections.ts';

/** Header of account pages: brand, signed-in account and sign-out. */
export const accountHeader = (visit: Visit, brand: Html, banner: Content): Html => {
  const { texts, user, tokens } = visit;
  const { frame } = texts.account;
  const who = user?.email ?? user?.firstName ?? '';
  return html`<header class="bar">
<a class="brand" href="${sections.overview}">${brand}</a>
<form method="post" action="/sign-out">
<input type="hidden" name="form_token" value="${tokens.user}">
<span class="who"><span class="unseen">${frame.signedInAs('')}</span>${who}</span>
<button type="submit" class="plain small">${texts.signOutNow}</button>
</form>
${banner}
</header>`;
};

/**
 * Navigation between account pages. On narrow screens the style sheet shows it only on the overview, and a back
 * link on other pages.
 */
export const accountNavigation = ({ texts }: Visit, current: Section): Html => {
  const { frame } = texts.account;
  const items = (Object.entries(sections) as [Section, string][]).map(
    ([name, address]) =>
      html`<li><a href="${address}"${name === current && html` aria-current="page"`}>${frame.sections[name]}</a></li>`,
  );
  return html`<nav class="sections" aria-label="${frame.menu}"><ul>${items}</ul></nav>
<nav class="up" aria-label="${frame.menu}"><a href="${sections.overview}">${frame.back}</a></nav>`;
};
