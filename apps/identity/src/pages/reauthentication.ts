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

/** A form as it was sent. */
export type Values = Readonly<Record<string, string>>;

/** What waits for the confirmation: a form as it was sent, or null where the page was only opened. */
interface Waiting {
  readonly userId: string;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly values: Values | null;
}

/** Asks people to confirm who they are, in the place of a page; with the refusal where the answer was wrong. */
export interface Question {
  readonly view: View;
  readonly refusal?: HttpError;
}

/** What becomes of a form that is sent to a sensitive page. */
export type Step =
  | { readonly kind: 'ask'; readonly question: Question }
  /** With the form as it was sent in the first place. */
  | { readonly kind: 'go_on'; readonly values: Values }
  | { readonly kind: 'reopen' };

/** Whether a form asks for something to be done, and not just for another language or another way to confirm. */
export const isAttempt = ({ ui_locales, continuation, other_way }: Values): boolean =>
  ui_locales === undefined && (continuation === undefined || other_way === undefined);

/** How somebody confirms that it is them. */
export const wayOf = ({ by }: Values): 'password' | 'code' => (by === 'code' ? 'code' : 'password');

const PURPOSE = 'a form that waits for reauthentication';
const WAIT_MS = 3600_000;

/** Recovery codes are longer than the codes of an app, and have letters. */
const codeField = { name: 'code', autocomplete: 'one-time-code', maxlength: 100 } as const;

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

  /** Whether the user authenticated recently in their session. */
  isRecent(user: UserCaller): Promise<boolean> {
    return this.#use.reauthentication.isRecent(user);
  }

  /** Asks who is there. `values` is the form that waits for it; null where the page was only opened. */
  async question(
    visit: Visit,
    user: UserCaller,
    values: Values | null,
    refusal: HttpError | null = null,
  ): Promise<Question> {
    const sealed = this.#seal(visit, user, values);
    if (refusal) return this.#refused(visit, user, sealed, { error: refusal, values: {} });
    return { view: await this.#view(visit, user, sealed, emptyForm) };
  }

  /**
   * What becomes of an answer. 403 where what it continues was not sealed here, for this user and this page,
   * within the last hour. A change of language, and of the way to confirm, check nothing.
   */
  async answer(
    visit: Visit,
    user: UserCaller,
    values: Values,
    tooMany: HttpError | null,
  ): Promise<Step> {
    const { continuation = '' } = values;
    const waiting = this.#open(visit, user, continuation);
    if (!isAttempt(values)) {
      const form = { values: { by: values.other_way ?? values.by }, errors: {} };
      return { kind: 'ask', question: { view: await this.#view(visit, user, continuation, form) } };
    }
    try {
      if (tooMany) throw tooMany;
      this.#use.forgery.demandToken(visit.req, values.form_token, user.id);
      await this.#confirm(visit, user, values);
    } catch (error) {
      const question = await this.#refused(visit, user, continuation, { error, values });
      return { kind: 'ask', question };
    }
    return waiting.values === null ? { kind: 'reopen' } : { kind: 'go_on', values: waiting.values };
  }

  async #refused(
    visit: Visit,
    user: UserCaller,
    sealed: string,
    { error, values }: { readonly error: unknown; readonly values: Values },
  ): Promise<Question> {
    const { state, refusal } = stateAfter(visit, error, values, this.#use.minLength);
    const view = await this.#view(visit, user, sealed, state);
    return { view: { ...view, hasErrors: true }, refusal };
  }

  async #confirm({ req, origin }: Visit, user: UserCaller, values: Values): Promise<void> {
    const { reauthentication, twoFactor, cookies } = this.#use;
    const way = wayOf(values);
    const given = values[way] ?? '';
    // Nothing typed is no attempt: it counts as no wrong password.
    if (given === '') throw validationFailed({ [way]: [`${way} is required`] });
    if (way === 'password') {
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
