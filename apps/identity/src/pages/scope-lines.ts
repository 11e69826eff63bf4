import { type Html, html } from '../http/html.ts';
import { API_SCOPE } from '../tokens/scopes.ts';
import { type RightLine, rightLines } from './rights.ts';
import type { Texts } from './texts/texts.ts';
import type { Reader } from './visit.ts';

type Scopes = Texts['consent']['scopes'];

/** What an application asks for or has. */
interface Access {
  readonly scopes: readonly string[];
  /** Where it acts; null where the user has no tenant. */
  readonly tenant: { readonly slug: string; readonly name: string } | null;
}

/** What scopes mean in words, the broadest right first; whoever skims the list reads that one. */
export const scopeLines = (
  { texts: { consent: texts }, language }: Reader,
  { scopes, tenant }: Access,
): readonly RightLine[] => {
  const isWorded = (scope: string): scope is keyof Scopes => Object.hasOwn(texts.scopes, scope);
  const worded = Object.keys(texts.scopes).filter((scope) => scopes.includes(scope));
  const patterns = scopes.filter((scope) => !isWorded(scope));
  return [
    ...worded
      .filter((scope) => scope === API_SCOPE)
      .map(() => ({ text: texts.scopes.api, isBroad: true })),
    ...rightLines(patterns, tenant, language),
    ...worded
      .filter(isWorded)
      .filter((scope) => scope !== API_SCOPE)
      .map((scope) => ({ text: texts.scopes[scope], isBroad: false })),
  ];
};

export const scopeList = (lines: readonly RightLine[]): Html =>
  html`<ul class="scopes">${lines.map(
    ({ text, isBroad }) => html`<li>${isBroad ? html`<strong>${text}</strong>` : text}</li>`,
  )}</ul>`;
