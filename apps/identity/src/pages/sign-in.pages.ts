import { email, validate } from '@tessera/fields';
import type { Config } from '../config.ts';
import type { InvitationsService } from '../features/registration/invitations.service.ts';
import type { SignInCookies } from '../features/sign-in/sign-in.cookies.ts';
import { Login } from '../features/sign-in/sign-in.schema.ts';
import type { SignInService } from '../features/sign-in/sign-in.service.ts';
import { Verification } from '../features/two-factor/two-factor.schema.ts';
import type { TwoFactorService } from '../features/two-factor/two-factor.service.ts';
import { html } from '../http/html.ts';
import { ownCookie } from '../http/session-cookie.ts';
import { duration } from '../mail/texts/format.ts';
import { isInvitation } from '../oauth/user/pages.ts';
import type { Authentication } from '../tokens/authenticate.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { checkbox, fields, formOf, link, message } from './form.ts';
import { nullIfInvalid } from './mailed-link.ts';
import { type AnyPage, page } from './page.ts';
import { destination, pageAddress, Redirect, type Visit } from './visit.ts';

interface Dependencies {
  readonly config: Pick<
    Config,
    'isLocal' | 'issuer' | 'frontendLoginUrl' | 'registrationEnabled' | 'lifetimes'
  >;
  readonly signIn: SignInService;
  readonly invitations: Pick<InvitationsService, 'show'>;
  readonly twoFactor: TwoFactorService;
  readonly authentication: Pick<Authentication, 'ofPendingSignIn'>;
  readonly cookies: SignInCookies;
}

/**
 * The address to prefill: that of the invitation, or the one that the application suggests (`login_hint` of OpenID
 * Connect Core). Anybody can make such a URL, so nothing but an address is shown.
 */
const suggestedAddress = async (
  { returnTo, application }: Visit,
  { invitations, config: { issuer } }: Pick<Dependencies, 'invitations' | 'config'>,
): Promise<string | undefined> => {
  if (returnTo === null) return undefined;
  const { searchParams } = new URL(returnTo);
  if (isInvitation(issuer, returnTo)) {
    const token = searchParams.get('token') ?? '';
    return (await nullIfInvalid(invitations.show(token)))?.email;
  }
  if (application === null) return undefined;
  const hint = validate(email(), searchParams.get('login_hint') ?? '');
  return hint.ok ? hint.value : undefined;
};

/** URL of the operator's own login page, which returns to where the visit leads; null without one. */
const loginElsewhere = (
  { returnTo, next }: Visit,
  { frontendLoginUrl, issuer }: Dependencies['config'],
): string | null => {
  if (frontendLoginUrl === undefined) return null;
  const address = new URL(frontendLoginUrl);
  const goal = returnTo ?? (next === null ? null : `${issuer}${next}`);
  if (goal !== null) address.searchParams.set('return_to', goal);
  return address.href;
};

/** The sign-in pages: email address and password, then the second factor if enabled. */
export const signInPages = (use: Dependencies): Record<string, AnyPage> => {
  const { config, cookies } = use;
  /**
   * Cookie with the token of a pending sign-in, valid only for the second factor and a short time.
   */
  const pending = ownCookie('pending', config);

  const signIn = page({
    path: '/sign-in',
    limit: 'login',
    isForAnybody: true,
    async open(visit) {
      const { notice = '' } = visit.query;
      const isOpened = visit.req.method === 'GET';
      if (visit.user && visit.returnTo === null && isOpened) {
        throw new Redirect(destination(visit, visit.query.notice));
      }
      const elsewhere = loginElsewhere(visit, config);
      // The other page does not know our notices.
      const isNotice = isOpened && Object.hasOwn(visit.texts.notices, notice);
      if (elsewhere !== null && !isNotice) throw new Redirect(elsewhere);
      const suggested = isOpened ? await suggestedAddress(visit, use) : undefined;
      return { client: visit.application, elsewhere, suggested };
    },
    view(visit, { client, elsewhere, suggested }, form) {
      const { signIn: texts } = visit.texts;
      if (elsewhere !== null) {
        return {
          title: texts.title,
          hasNoForm: true,
          body: [
            message(visit, form),
            html`<p><a class="button" href="${elsewhere}">${texts.submit}</a></p>`,
          ],
        };
      }
      return {
        title: texts.title,
        lead: client ? texts.to(client.name) : undefined,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: [
              fields(visit, form, [
                {
                  name: 'email',
                  type: 'email',
                  autocomplete: 'username',
                  value: suggested,
                },
                { name: 'password', type: 'password', autocomplete: 'current-password' },
              ]),
              html`<div class="row">${checkbox(form, 'remember', texts.remember)}</div>`,
            ],
            beside: html`<a href="${pageAddress(visit, '/password/forgot')}">${texts.forgot}</a>`,
          }),
          config.registrationEnabled &&
            link(pageAddress(visit, '/register'), texts.register, texts.isNew),
        ],
      };
    },
    form: {
      fields: Login.fields,
      async submit(visit, given) {
        const result = await use.signIn.signIn(given, cookies.clientOf(visit.req));
        if ('pendingToken' in result) {
          const { pendingToken, expiresIn } = result;
          const options = { ...pending.options, maxAge: expiresIn * 1000 };
          visit.res.cookie(pending.name, pendingToken, options);
          return pageAddress(visit, '/two-factor');
        }
        cookies.set(visit.res, result);
        return destination(visit);
      },
    },
  });

  /** The user of the pending sign-in. */
  const pendingUser = async (visit: Visit): Promise<UserCaller> => {
    const token = pending.secretOf(visit.req);
    const user = token && (await use.authentication.ofPendingSignIn(token));
    if (user) return user;
    throw new Redirect(pageAddress(visit, '/sign-in', { notice: 'expired' }));
  };

  const twoFactor = page({
    path: '/two-factor',
    limit: 'twoFactor',
    isForAnybody: true,
    open: pendingUser,
    view(visit, _user, form) {
      const { twoFactor: texts, back } = visit.texts;
      const time = duration(visit.language, config.lifetimes.deviceTrust);
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: [
              // No numeric keyboard: recovery codes contain letters.
              fields(visit, form, [
                { name: 'code', autocomplete: 'one-time-code', maxlength: 100 },
              ]),
              html`<div class="row">${checkbox(form, 'trust_device', texts.trust(time))}</div>`,
            ],
          }),
          link(pageAddress(visit, '/sign-in'), back),
        ],
      };
    },
    form: {
      fields: Verification.fields,
      async submit(visit, { code, trust_device: trustDevice }, user) {
        const client = cookies.clientOf(visit.req);
        const { signedIn } = await use.twoFactor.verify(user, { code, trustDevice }, client);
        visit.res.clearCookie(pending.name, pending.options);
        if (signedIn) cookies.set(visit.res, signedIn);
        return destination(visit);
      },
    },
  });

  return { signIn, twoFactor };
};
