import { oneOf } from '@tessera/fields';
import { html } from '../html.ts';
import type { AuthorizationServer } from '../oauth/user/server.ts';
import { sessionCookie } from '../session-cookie.ts';
import { formOf } from './form.ts';
import { type AnyPage, page } from './page.ts';
import type { Texts } from './texts/texts.ts';
import { intoApplication, signedInUser, type Visit } from './visit.ts';

interface Dependencies {
  readonly consents: AuthorizationServer['consents'];
  readonly config: { readonly isLocal: boolean };
}

type Scopes = Texts['consent']['scopes'];

/** What a person can recognise of an address: the host, or the app's own scheme. */
const placeOf = (address: string): string => {
  const { host, protocol } = new URL(address);
  return host || protocol.slice(0, -1);
};

/** Asks whether an application that nobody vouches for may act for the user. */
export const consentPage = ({ consents, config }: Dependencies): AnyPage => {
  const session = sessionCookie(config);
  const of = ({ req, origin }: Visit) =>
    [String(req.params.uid), session.secretOf(req) ?? undefined, origin] as const;

  return page({
    path: '/consent/{uid}',
    async open(visit) {
      const user = signedInUser(visit);
      return { user, asked: await consents.show(...of(visit)) };
    },
    view(visit, { user, asked: { client, redirectUri, scopes } }, form) {
      const { consent: texts } = visit.texts;
      const isKnown = (scope: string): scope is keyof Scopes => Object.hasOwn(texts.scopes, scope);
      return {
        title: texts.title(client.name),
        lead: texts.lead(client.name, user.email ?? user.firstName),
        leadsTo: redirectUri,
        body: formOf(visit, form, {
          submit: texts.accept,
          decision: ['decision', 'accept'],
          content: [
            html`<ul class="scopes">${scopes.filter(isKnown).map((scope) => html`<li>${texts.scopes[scope]}</li>`)}</ul>`,
            html`<p class="hint">${texts.goesTo(placeOf(redirectUri))}</p>`,
          ],
          beside: html`<button type="submit" class="plain" name="decision" value="refuse">${texts.refuse}</button>`,
        }),
      };
    },
    form: {
      fields: { decision: oneOf('accept', 'refuse') },
      async submit(visit, { decision }, { asked }) {
        const [request, ...from] = of(visit);
        const address = await consents[decision](request, ...from);
        return intoApplication(asked.redirectUri, address, { request });
      },
    },
  });
};
