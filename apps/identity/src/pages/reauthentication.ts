import { HttpError, validationFailed } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { ProfileService } from '../features/profile/profile.service.ts';
import type { ReauthenticationService } from '../features/reauthentication/reauthentication.service.ts';
import type { SignInCookies } from '../features/sign-in/sign-in.cookies.ts';
import type { TwoFactorService } from '../features/two-factor/two-factor.service.ts';
import { html } from '../html.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { type ForgeryGuard, forged } from './forgery.ts';
import { accountName, emptyForm, type FormState, fields, formOf } from './form.ts';
import type { View } from './layout.ts';
import { stateAfter } from './problems.ts';
import type { Visit } from './visit.ts';

type Values = Readonly<Record<string, string>>;

/** What waits for the confirmation: a form as it was sent, or null where the page was only opened. */
interface Waiting {
  readonly userId: string;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly values: Values | null;
}

/** What becomes of a request to a sensitive page. */
export type Step =
  | { readonly kind: 'ask'; readonly view: View; readonly refusal?: HttpError }
  /** The form as it was sent in the first place. */
  | { readonly kind: 'go_on'; readonly values: Values }
  | { readonly kind: 'reopen' };

const PURPOSE = 'a form that waits for reauthentication';
const WAIT_MS = 3600_000;

interface Dependencies {
  readonly reauthentication: Pick<ReauthenticationService, 'isRecent' | 'reauthenticate'>;
  readonly twoFactor: Pick<TwoFactorService, 'verify'>;
  readonly profiles: Pick<ProfileService, 'security'>;
  readonly cookies: Pick<SignInCookies, 'clientOf'>;
  readonly vault: Vault;
  readonly forgery: ForgeryGuard;
  /** Fewest characters of a new password. */
  readonly minLength: number;
}

/**
 * Asks on a sensitive page for the password or a code where the last authentication is not recent (decision
 * I19), and goes on with what was typed. A form that waits travels with the page, sealed, so that nothing is
 * stored and every replica can go on with it.
 */
export class PageReauthentication {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** What to show in the place of a page that is opened; null where nothing stands in its way. */
  async beforeShowing(visit: Visit, user: UserCaller): Promise<View | null> {
    if (await this.#use.reauthentication.isRecent(user)) return null;
    return this.#view(visit, user, this.#seal(visit, user, null), emptyForm);
  }

  /** What becomes of a form that was sent. A change of language checks nothing and shows the form again. */
  async beforeSubmitting(visit: Visit, user: UserCaller, values: Values): Promise<Step> {
    const { continuation } = values;
    const isAttempt = values.ui_locales === undefined;
    if (continuation === undefined) {
      if (!isAttempt || (await this.#use.reauthentication.isRecent(user))) {
        return { kind: 'go_on', values };
      }
      const sealed = this.#seal(visit, user, values);
      return { kind: 'ask', view: await this.#view(visit, user, sealed, emptyForm) };
    }
    const waiting = this.#open(visit, user, continuation);
    const ask = (state: FormState) => this.#view(visit, user, continuation, state);
    if (!isAttempt || values.other_way !== undefined) {
      return {
        kind: 'ask',
        view: await ask({ values: { by: values.other_way ?? values.by }, errors: {} }),
      };
    }
    try {
      this.#use.forgery.demandToken(visit.req, values.form_token, user.id);
      await this.#confirm(visit, user, values);
    } catch (error) {
      const { state, refusal } = stateAfter(visit, error, values, this.#use.minLength);
      return { kind: 'ask', view: { ...(await ask(state)), hasErrors: true }, refusal };
    }
    return waiting.values === null ? { kind: 'reopen' } : { kind: 'go_on', values: waiting.values };
  }

  async #confirm({ req, origin }: Visit, user: UserCaller, values: Values): Promise<void> {
    const { reauthentication, twoFactor } = this.#use;
    if (values.by !== 'code') {
      await reauthentication.reauthenticate(user, values.password ?? '', origin);
      return;
    }
    if (!values.code) throw validationFailed({ code: ['code is required'] });
    const given = { code: values.code, trustDevice: false };
    await twoFactor.verify(user, given, this.#use.cookies.clientOf(req));
  }

  async #view(visit: Visit, user: UserCaller, sealed: string, form: FormState): Promise<View> {
    const { reauthentication: texts } = visit.texts;
    const { twoFactorEnabled } = await this.#use.profiles.security(user);
    const isByCode = twoFactorEnabled && form.values.by === 'code';
    const other = isByCode ? 'password' : 'code';
    return {
      title: texts.title,
      lead: isByCode ? texts.leadCode : texts.lead,
      body: formOf(visit, form, {
        submit: texts.submit,
        content: [
          html`<input type="hidden" name="continuation" value="${sealed}">`,
          html`<input type="hidden" name="by" value="${isByCode ? 'code' : 'password'}">`,
          isByCode
            ? fields(visit, form, [{ name: 'code', autocomplete: 'one-time-code', maxlength: 20 }])
            : [
                accountName(user.email),
                fields(visit, form, [
                  { name: 'password', type: 'password', autocomplete: 'current-password' },
                ]),
              ],
        ],
        beside:
          twoFactorEnabled &&
          html`<button type="submit" class="plain" name="other_way" value="${other}">${isByCode ? texts.byPassword : texts.byCode}</button>`,
      }),
    };
  }

  #seal({ req }: Visit, user: UserCaller, values: Values | null): string {
    const waiting: Waiting = {
      userId: user.id,
      path: req.path,
      expiresAt: Date.now() + WAIT_MS,
      values,
    };
    const plain = Buffer.from(JSON.stringify(waiting));
    return this.#use.vault.seal(plain, PURPOSE).toString('base64url');
  }

  /** 403 for what was not sealed here, for this user and this page, within the last hour. */
  #open({ req }: Visit, user: UserCaller, sealed: string): Waiting {
    const waiting = this.#unsealed(sealed);
    const isOurs = waiting.userId === user.id && waiting.path === req.path;
    if (!isOurs || waiting.expiresAt < Date.now()) throw forged();
    return waiting;
  }

  #unsealed(sealed: string): Waiting {
    try {
      const plain = this.#use.vault.open(Buffer.from(sealed, 'base64url'), PURPOSE);
      return JSON.parse(plain.toString()) as Waiting;
    } catch (error) {
      throw new HttpError(403, 'forged_request', forged().message, { cause: error });
    }
  }
}
