import type { PasswordsService } from '../../features/passwords/passwords.service.ts';
import type { ProfileService } from '../../features/profile/profile.service.ts';
import { html } from '../../http/html.ts';
import { formOf, link } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { changePassword, passwordChange, passwordChangeFields } from '../password-change.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly passwords: Pick<PasswordsService, 'change'>;
  readonly profiles: Pick<ProfileService, 'security'>;
  /** Minimum length of a new password. */
  readonly minLength: number;
}

/** The page to change the password. */
export const passwordPages = ({
  passwords,
  profiles,
  minLength,
}: Dependencies): Record<string, AnyPage> => ({
  accountPassword: accountPage({
    section: 'password',
    path: sections.password,
    limit: 'password',
    open: async (_visit, user) => ({ user, security: await profiles.security(user) }),
    view(visit, { user, security: { passwordChangedAt } }, form) {
      const { password: texts } = visit.texts.account;
      const times = timesFor(visit.language, user.timeZone);
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          html`<p class="hint">${passwordChangedAt ? texts.lastChanged(times.moment(passwordChangedAt)) : texts.neverChanged}</p>`,
          formOf(visit, form, {
            submit: texts.submit,
            content: passwordChangeFields(visit, user, form, minLength),
          }),
          link('/password/forgot', texts.forgot),
        ],
      };
    },
    form: {
      ...passwordChange,
      async submit(visit, given, { user }) {
        await changePassword(passwords, user, given, visit);
        return `${sections.password}?notice=password_changed`;
      },
    },
  }),
});
