import { type Html, html } from '../http/html.ts';
import { API_SCOPE } from '../tokens/scopes.ts';
import type { PermissionLine, PermissionLines } from './permission-lines.ts';
import type { Texts } from './texts/texts.ts';
import type { Reader } from './visit.ts';

type Scopes = Texts['consent']['scopes'];

/** The access an application requests or has. */
interface Access {
  readonly scopes: readonly string[];
  /** The tenant in which it acts; null if the user has none. */
  readonly tenant: { readonly slug: string; readonly name: string } | null;
}

/** Describes scopes, broadest first. */
export const scopeLines = (
  permissionLines: PermissionLines,
  { texts: { consent: texts }, language }: Reader,
  { scopes, tenant }: Access,
): readonly PermissionLine[] => {
  const hasText = (scope: string): scope is keyof Scopes => Object.hasOwn(texts.scopes, scope);
  const known = Object.keys(texts.scopes).filter((scope) => scopes.includes(scope));
  const patterns = scopes.filter((scope) => !hasText(scope));
  return [
    ...known
      .filter((scope) => scope === API_SCOPE)
      .map(() => ({ text: texts.scopes.api, isBroad: true })),
    ...permissionLines(patterns, tenant, language),
    ...known
      .filter(hasText)
      .filter((scope) => scope !== API_SCOPE)
      .map((scope) => ({ text: texts.scopes[scope], isBroad: false })),
  ];
};

export const scopeList = (lines: readonly PermissionLine[]): Html =>
  html`<ul class="scopes">${lines.map(
    ({ text, isBroad }) => html`<li>${isBroad ? html`<strong>${text}</strong>` : text}</li>`,
  )}</ul>`;
