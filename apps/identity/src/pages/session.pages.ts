import { pin } from '../features/pin/pin.schema.ts';
import type { PinService } from '../features/pin/pin.service.ts';
import type { SignInCookies } from '../features/sign-in/sign-in.cookies.ts';
import type { SignInService } from '../features/sign-in/sign-in.service.ts';
import { html } from '../http/html.ts';
import { userPaths } from '../oauth/paths.ts';
import { sections } from './account/sections.ts';
import { fields, formOf, link, signOutForm } from './form.ts';
import { type AnyPage, page } from './page.ts';
import { destination, pageAddress, Redirect, signedInUser } from './visit.ts';

interface Dependencies {
  readonly signIn: SignInService;
  readonly pins: PinService;
  readonly cookies: SignInCookies;
}

/** Pages of a session: PIN, account selection and sign-out. */
export const sessionPages = (use: Dependencies): Record<string, AnyPage> => {
  const pinPage = page({
    path: '/pin',
    limit: 'pin',
    open(visit) {
      const user = signedInUser(visit);
      if (user.restriction !== 'pin_required') throw new Redirect(destination(visit));
      return user;
    },
    view(visit, _user, form) {
      const { pin: texts } = visit.texts;
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: fields(visit, form, [
              {
                name: 'pin',
                type: 'password',
                autocomplete: 'off',
                inputmode: 'numeric',
                maxlength: 6,
              },
            ]),
          }),
          signOutForm(visit),
        ],
      };
    },
    form: {
      fields: { pin },
      async submit(visit, given, user) {
        await use.pins.verify(user, given.pin, visit.origin);
        return destination(visit);
      },
    },
  });

  /**
   * Asks which account to continue with, if the application requests it (`prompt=select_account`).
   */
  const selectAccount = page({
    path: '/select-account',
    open(visit) {
      const user = signedInUser(visit);
      if (visit.returnTo === null) throw new Redirect(destination(visit));
      return { user, address: visit.returnTo };
    },
    view(visit, { user, address }) {
      const { selectAccount: texts } = visit.texts;
      const name = `${user.firstName} ${user.lastName}`.trim();
      return {
        title: texts.title,
        lead: visit.application ? texts.lead(visit.application.name) : undefined,
        body: [
          html`<p class="lead">${texts.signedInAs(user.email ?? name)}</p>`,
          html`<p><a class="button" href="${address}">${texts.goOn(name)}</a></p>`,
          link(pageAddress(visit, '/sign-in'), texts.other),
        ],
      };
    },
  });

  /** Final page of forms that redirect to a web application. */
  const goOn = page({
    path: '/continue',
    open({ query: { request = '' }, returnTo }) {
      // An authorization request after consent continues at its own URL.
      const isRequest = /^[\w-]{1,100}$/.test(request);
      return isRequest ? `${userPaths.authorization}/${request}` : (returnTo ?? sections.overview);
    },
    view(visit, address) {
      const { goOn: texts } = visit.texts;
      return {
        title: texts.title,
        lead: texts.lead,
        refresh: address,
        body: html`<p><a class="button" href="${address}">${texts.link}</a></p>`,
      };
    },
  });

  const signOut = page({
    path: '/sign-out',
    open(visit) {
      const { reason } = visit.query;
      const address = reason === 'idle' ? '/signed-out?reason=idle' : '/signed-out';
      if (!visit.user) throw new Redirect(address);
      return { user: visit.user, address };
    },
    view(visit, _user, form) {
      const { signOut: texts, signOutNow } = visit.texts;
      return {
        title: texts.title,
        lead: texts.lead,
        body: formOf(visit, form, { submit: signOutNow }),
      };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { user, address }) {
        // Not only this session: earlier ones of the browser may hold tokens of apps opened from it.
        await use.signIn.signOutDevice(user, visit.origin);
        use.cookies.clearSession(visit.res);
        return address;
      },
    },
  });

  const signedOut = page({
    path: '/signed-out',
    open: () => null,
    view(visit) {
      const { signedOut: texts } = visit.texts;
      return {
        title: texts.title,
        lead: visit.query.reason === 'idle' ? texts.idle : texts.lead,
        body: html`<p><a class="button" href="/sign-in">${texts.again}</a></p>`,
      };
    },
  });

  return { pin: pinPage, selectAccount, goOn, signOut, signedOut };
};
