import { HttpError, validationFailed } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { ProfileService } from '../features/profile/profile.service.ts';
import type { ReauthenticationService } from '../features/reauthentication/reauthentication.service.ts';
import type { SignInCookies } from '../features/sign-in/sign-in.cookies.ts';
import type { TwoFactorService } from '../features/two-factor/two-factor.service.ts';
import { html } from '../http/html.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { sections } from './account/sections.ts';
import { type ForgeryGuard, forged } from './forgery.ts';
import { emptyForm, type FormState, fields, formOf, link, passwordConfirmation } from './form.ts';
import type { View } from './layout.ts';
import { stateAfter } from './problems.ts';
import type { Visit } from './visit.ts';

/** The values of a submitted form. */
export type Values = Readonly<Record<string, string>>;

/** What continues after reauthentication: a submitted form, or null if the page was only opened. */
interface Continuation {
  readonly userId: string;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly values: Values | null;
}

/**
 * A reauthentication form shown instead of the page, with the error if the previous attempt failed.
 */
export interface ReauthenticationPrompt {
  readonly view: View;
  readonly refusal?: HttpError;
}

/** How to continue with a form sent to a sensitive page. */
export type NextStep =
  | { readonly kind: 'ask'; readonly prompt: ReauthenticationPrompt }
  /** With the originally submitted values. */
  | { readonly kind: 'go_on'; readonly values: Values }
  | { readonly kind: 'reopen' };

/**
 * Whether a form attempts an action, rather than switching the language or the method of confirmation.
 */
export const isAttempt = ({ ui_locales, continuation, other_way }: Values): boolean =>
  ui_locales === undefined && (continuation === undefined || other_way === undefined);

/** The method of confirmation. */
export const methodOf = ({ by }: Values): 'password' | 'code' =>
  by === 'code' ? 'code' : 'password';

const VAULT_PURPOSE = 'a form that waits for reauthentication';
const LIFETIME_MS = 3600_000;

/** The visit of a prompt: only one that continues a form can be answered with a file. */
const visitOfPrompt = (visit: Visit, values: Values | null): Visit => ({
  ...visit,
  isDownload: visit.isDownload && values !== null,
});

/** Recovery codes are longer than one-time passwords and contain letters. */
const codeField = { name: 'code', autocomplete: 'one-time-code', maxlength: 100 } as const;

interface Dependencies {
  readonly reauthentication: Pick<ReauthenticationService, 'isRecent' | 'reauthenticate'>;
  readonly twoFactor: Pick<TwoFactorService, 'verify'>;
  readonly profiles: Pick<ProfileService, 'security'>;
  readonly cookies: Pick<SignInCookies, 'clientOf'>;
  readonly vault: Vault;
  readonly forgery: ForgeryGuard;
  /** Minimum length of a new password. */
  readonly minLength: number;
}

/**
 * Asks for the password or a code on sensitive pages without a recent authentication (decision I19), then
 * continues with the submitted values. A pending form is kept encrypted in the page, so that nothing is stored
 * and every replica can continue it.
 */
export class PageReauthentication {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Whether the user has recently authenticated in their session. */
  isRecent(user: UserCaller): Promise<boolean> {
    return this.#use.reauthentication.isRecent(user);
  }

  /** The reauthentication form. `values` is the pending form; null if the page was only opened. */
  async prompt(
    visit: Visit,
    user: UserCaller,
    values: Values | null,
    refusal: HttpError | null = null,
  ): Promise<ReauthenticationPrompt> {
    const sealed = this.#seal(visit, user, values);
    const asked = visitOfPrompt(visit, values);
    if (refusal) return this.#refused(asked, user, sealed, { error: refusal, values: {} });
    return { view: await this.#view(asked, user, sealed, emptyForm) };
  }

  /**
   * Handles a submitted reauthentication form. 403 if its continuation was not created for this user and page
   * within the last hour. Switching the language or the method verifies nothing.
   */
  async confirm(
    visit: Visit,
    user: UserCaller,
    values: Values,
    tooMany: HttpError | null,
  ): Promise<NextStep> {
    const { continuation = '' } = values;
    const continued = this.#open(visit, user, continuation);
    const asked = visitOfPrompt(visit, continued.values);
    if (!isAttempt(values)) {
      const form = { values: { by: values.other_way ?? values.by }, errors: {} };
      return { kind: 'ask', prompt: { view: await this.#view(asked, user, continuation, form) } };
    }
    try {
      if (tooMany) throw tooMany;
      this.#use.forgery.requireToken(visit.req, values.form_token, user.id);
      await this.#confirm(visit, user, values);
    } catch (error) {
      const prompt = await this.#refused(asked, user, continuation, { error, values });
      return { kind: 'ask', prompt };
    }
    return continued.values === null
      ? { kind: 'reopen' }
      : { kind: 'go_on', values: continued.values };
  }

  async #refused(
    visit: Visit,
    user: UserCaller,
    sealed: string,
    { error, values }: { readonly error: unknown; readonly values: Values },
  ): Promise<ReauthenticationPrompt> {
    const { state, refusal } = stateAfter(visit, error, values, this.#use.minLength);
    const view = await this.#view(visit, user, sealed, state);
    return { view: { ...view, hasErrors: true }, refusal };
  }

  async #confirm({ req, origin }: Visit, user: UserCaller, values: Values): Promise<void> {
    const { reauthentication, twoFactor, cookies } = this.#use;
    const method = methodOf(values);
    const given = values[method] ?? '';
    // An empty field does not count as a wrong password.
    if (given === '') throw validationFailed({ [method]: [`${method} is required`] });
    if (method === 'password') {
      await reauthentication.reauthenticate(user, given, origin);
      return;
    }
    await twoFactor.verify(user, { code: given, trustDevice: false }, cookies.clientOf(req));
  }

  async #view(visit: Visit, user: UserCaller, sealed: string, form: FormState): Promise<View> {
    const { reauthentication: texts } = visit.texts;
    const { twoFactorEnabled } = await this.#use.profiles.security(user);
    const isByCode = twoFactorEnabled && form.values.by === 'code';
    const other = isByCode ? 'password' : 'code';
    return {
      title: texts.title,
      lead: isByCode ? texts.leadCode : texts.lead,
      body: [
        formOf(visit, form, {
          submit: texts.submit,
          content: [
            html`<input type="hidden" name="continuation" value="${sealed}">`,
            html`<input type="hidden" name="by" value="${isByCode ? 'code' : 'password'}">`,
            isByCode
              ? fields(visit, form, [codeField])
              : passwordConfirmation(visit, form, user.email),
          ],
          beside:
            twoFactorEnabled &&
            html`<button type="submit" class="plain" name="other_way" value="${other}">${isByCode ? texts.byPassword : texts.byCode}</button>`,
        }),
        link(sections.overview, visit.texts.account.frame.back),
      ],
    };
  }

  #seal({ req }: Visit, user: UserCaller, values: Values | null): string {
    const continued: Continuation = {
      userId: user.id,
      path: req.path,
      expiresAt: Date.now() + LIFETIME_MS,
      values,
    };
    const plain = Buffer.from(JSON.stringify(continued));
    return this.#use.vault.seal(plain, VAULT_PURPOSE).toString('base64url');
  }

  /** 403 unless the continuation was created for this user and page within the last hour. */
  #open({ req }: Visit, user: UserCaller, sealed: string): Continuation {
    const continued = this.#unsealed(sealed);
    const isOurs = continued.userId === user.id && continued.path === req.path;
    if (!isOurs || continued.expiresAt < Date.now()) throw forged();
    return continued;
  }

  #unsealed(sealed: string): Continuation {
    try {
      const plain = this.#use.vault.open(Buffer.from(sealed, 'base64url'), VAULT_PURPOSE);
      return JSON.parse(plain.toString()) as Continuation;
    } catch (error) {
      throw new HttpError(403, 'forged_request', forged().message, { cause: error });
    }
  }
}
