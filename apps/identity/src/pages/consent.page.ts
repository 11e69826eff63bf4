import { oneOf, optional, uuid } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { html } from '../http/html.ts';
import { sessionCookie } from '../http/session-cookie.ts';
import type { ConsentRequest } from '../oauth/user/consents.ts';
import type { AuthorizationServer } from '../oauth/user/server.ts';
import { opensApi } from '../tokens/scopes.ts';
import { formOf } from './form.ts';
import { type AnyPage, page } from './page.ts';
import type { PermissionLines } from './permission-lines.ts';
import { scopeLines, scopeList } from './scope-lines.ts';
import { applicationRedirect, pageAddress, Redirect, signedInUser, type Visit } from './visit.ts';

interface Dependencies {
  readonly consents: AuthorizationServer['consents'];
  readonly config: { readonly isLocal: boolean };
  readonly permissionLines: PermissionLines;
}

/** The recognisable part of a redirect URI: the host, or the app's custom scheme. */
const hostOf = (address: string): string => {
  const { host, protocol } = new URL(address);
  return host || protocol.slice(0, -1);
};

/** Where the browser goes from a request that needs no answer any more. */
const continuation = ({ req }: Visit, { redirectUri }: ConsentRequest, address: string): string =>
  applicationRedirect(redirectUri, address, { request: String(req.params.uid) });

const isUnknown = (error: unknown): boolean => error instanceof HttpError && error.status === 404;

/** Asks the user for consent to a third-party application. */
export const consentPage = ({ consents, config, permissionLines }: Dependencies): AnyPage => {
  const session = sessionCookie(config);
  const of = ({ req, origin }: Visit) =>
    [String(req.params.uid), session.secretOf(req) ?? undefined, origin] as const;

  /** The URL that begins the request of the page again. */
  const beginning = async ({ req, origin, returnTo }: Visit): Promise<string | null> =>
    returnTo ?? (await consents.beginAgainAt(String(req.params.uid), origin));

  /**
   * Begins a request again that does not belong to the session: the user has signed in again, somebody else has, or the
   * request has expired.
   */
  const orBeginAgain = async <T>(visit: Visit, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      const returnTo = isUnknown(error) ? await beginning(visit) : null;
      throw returnTo === null
        ? error
        : new Redirect(pageAddress({ returnTo, next: null }, '/continue'));
    }
  };

  return page({
    path: '/consent/{uid}',
    async open(visit) {
      const user = visit.user ?? signedInUser({ ...visit, returnTo: await beginning(visit) });
      const request = await orBeginAgain(visit, consents.show(...of(visit)));
      // Also a form that was sent twice, or whose answer was lost.
      if (request.goOnAt !== null) throw new Redirect(continuation(visit, request, request.goOnAt));
      return { user, request };
    },
    view(visit, { user, request }, form) {
      const { client, redirectUri, scopes, tenant, returnTo } = request;
      const { consent: texts } = visit.texts;
      const isInTenant = tenant !== null && opensApi(scopes);
      const who = user.email ?? user.firstName;
      return {
        title: texts.title(client.name),
        lead: html`${texts.signedInAs(who)} <a href="${pageAddress({ ...visit, returnTo }, '/sign-in')}">${texts.notYou}</a>`,
        redirectTarget: redirectUri,
        body: formOf(visit, form, {
          // A page can be open for longer than its request is stored.
          action: pageAddress({ returnTo, next: null }, ''),
          submit: texts.accept,
          decision: ['decision', 'accept'],
          content: [
            tenant !== null && html`<input type="hidden" name="tenant_id" value="${tenant.id}">`,
            html`<p>${isInTenant ? texts.leadIn(client.name, tenant.name) : texts.lead(client.name)}</p>`,
            scopeList(scopeLines(permissionLines, visit, request)),
            isInTenant && html`<p class="hint">${texts.alsoShared(tenant.name)}</p>`,
            opensApi(scopes) && html`<p class="hint">${texts.limit}</p>`,
            html`<p class="hint">${texts.goesTo(hostOf(redirectUri))}</p>`,
          ],
          beside: html`<button type="submit" class="plain" name="decision" value="refuse">${texts.refuse}</button>`,
        }),
      };
    },
    form: {
      fields: { decision: oneOf('accept', 'refuse'), tenant_id: optional(uuid()) },
      async submit(visit, { decision, tenant_id: shown = null }, { request }) {
        const [uid, ...from] = of(visit);
        const answered =
          decision === 'refuse'
            ? consents.refuse(uid, ...from)
            : consents.accept(uid, ...from, shown);
        return continuation(visit, request, await orBeginAgain(visit, answered));
      },
    },
  });
};
