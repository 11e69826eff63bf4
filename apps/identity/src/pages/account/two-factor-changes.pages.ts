import type { ReauthenticationService } from '../../features/reauthentication/reauthentication.service.ts';
import { Password } from '../../features/two-factor/two-factor.schema.ts';
import type { TwoFactorService } from '../../features/two-factor/two-factor.service.ts';
import { html } from '../../http/html.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { formOf, passwordConfirmation } from '../form.ts';
import type { AnyPage } from '../page.ts';
import type { TwoFactorTexts } from '../texts/account/en/two-factor.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { authenticateByForm } from './password-given.ts';
import { sections } from './sections.ts';
import type { ShownCodes } from './shown-codes.ts';
import { twoFactorAddresses as addresses } from './two-factor.addresses.ts';

interface Dependencies {
  readonly twoFactor: TwoFactorService;
  readonly reauthentication: ReauthenticationService;
  readonly shownCodes: ShownCodes;
}

interface ConfirmedChange {
  readonly path: string;
  readonly isDangerous: boolean;
  texts(texts: TwoFactorTexts): {
    readonly title: string;
    readonly lead: string;
    readonly effects?: string;
    readonly submit: string;
    readonly keep: string;
  };
  /** Performs the change and returns the URL to go to. */
  act(visit: Visit, user: UserCaller, password: string): Promise<string>;
}

/** Pages that explain a change and confirm it with the password. */
export const twoFactorChangePages = (use: Dependencies): Record<string, AnyPage> => {
  const step = ({ path, isDangerous, texts, act }: ConfirmedChange): AnyPage =>
    accountPage({
      section: 'twoFactor',
      path,
      limit: 'password',
      hasSensitiveForm: true,
      async open(_visit, user) {
        const { since } = await use.twoFactor.status(user);
        if (since === null) throw new Redirect(sections.twoFactor);
        return user;
      },
      view(visit, user, form) {
        const words = texts(visit.texts.account.twoFactor);
        return {
          title: words.title,
          lead: words.lead,
          body: formOf(visit, form, {
            submit: words.submit,
            isDangerous,
            content: [
              words.effects !== undefined && html`<p>${words.effects}</p>`,
              passwordConfirmation(visit, form, user.email),
            ],
            beside: html`<a href="${sections.twoFactor}">${words.keep}</a>`,
          }),
        };
      },
      form: {
        fields: Password.fields,
        async submit(visit, { password }, user) {
          await authenticateByForm(use.reauthentication, user, password, visit.origin);
          return act(visit, user, password);
        },
      },
    });

  return {
    newRecoveryCodes: step({
      path: addresses.replace,
      isDangerous: false,
      texts: ({ replace }) => replace,
      async act(visit, user, password) {
        const codes = await use.twoFactor.replaceCodes(user, password, visit.origin);
        use.shownCodes.keep(visit, user, codes);
        return addresses.codes;
      },
    }),
    twoFactorRemoval: step({
      path: addresses.turnOff,
      isDangerous: true,
      texts: ({ turnOff }) => turnOff,
      async act(visit, user, password) {
        await use.twoFactor.disable(user, password, visit.origin);
        use.shownCodes.forget(visit);
        return `${sections.twoFactor}?notice=two_factor_off`;
      },
    }),
  };
};
