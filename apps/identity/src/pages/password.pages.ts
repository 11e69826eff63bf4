import { ForgotPassword, ResetPassword } from '../features/passwords/passwords.schema.ts';
import type { PasswordsService } from '../features/passwords/passwords.service.ts';
import { html } from '../http/html.ts';
import { sections } from './account/sections.ts';
import { accountName, fields, formOf, link, message, signOutForm } from './form.ts';
import { mailSentAddress } from './mail-sent.page.ts';
import type { MailedAddress } from './mailed-address.ts';
import { type AnyPage, page } from './page.ts';
import { changePassword, passwordChange, passwordChangeFields } from './password-change.ts';
import { restrictionPages } from './restriction-pages.ts';
import { resultAddress } from './result.page.ts';
import { newPasswordFields } from './rule-list.ts';
import { destination, pageAddress, Redirect, signedInUser } from './visit.ts';

interface Dependencies {
  readonly passwords: PasswordsService;
  /** Minimum length of a new password. */
  readonly minLength: number;
  readonly mailed: MailedAddress;
}

/** Pages to request a password reset, reset the password and change it. */
export const passwordPages = ({
  passwords,
  minLength,
  mailed,
}: Dependencies): Record<string, AnyPage> => {
  const forgot = page({
    path: '/password/forgot',
    limit: 'passwordForgot',
    isForAnybody: true,
    open: () => null,
    view(visit, _nothing, form) {
      const { forgot: texts, back } = visit.texts;
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: fields(visit, form, [
              { name: 'email', type: 'email', autocomplete: 'username' },
            ]),
          }),
          link(pageAddress(visit, '/sign-in'), back),
        ],
      };
    },
    form: {
      fields: ForgotPassword.fields,
      submit(visit, { email }) {
        passwords.forgot(email, visit.origin);
        return mailSentAddress(visit, 'reset', mailed.keep(visit, email));
      },
    },
  });

  const reset = page({
    path: '/password/reset',
    limit: 'public',
    isForAnybody: true,
    async open({ query: { token = '' } }) {
      return { token, email: await passwords.addressOfReset(token) };
    },
    view(visit, { email }, form) {
      const { reset: texts, forgot: other, problems } = visit.texts;
      if (email === null || form.isLinkInvalid) {
        const alert = message(visit, { ...form, alert: form.alert ?? problems.token });
        const again = html`<p><a class="button" href="/password/forgot">${other.again}</a></p>`;
        return { title: texts.title, hasNoForm: true, body: [alert, again] };
      }
      return {
        title: texts.title,
        lead: texts.lead(email),
        body: formOf(visit, form, {
          submit: texts.submit,
          content: [accountName(email), fields(visit, form, newPasswordFields(visit, minLength))],
        }),
      };
    },
    form: {
      fields: {
        password: ResetPassword.fields.password,
        password_confirmation: ResetPassword.fields.password_confirmation,
      },
      newPassword: 'password',
      async submit(visit, { password, password_confirmation: confirmation }, { token, email }) {
        const given = { token, email: email ?? '', password, confirmation };
        const userId = await passwords.reset(given, visit.origin);
        return resultAddress(visit, 'password_reset', userId);
      },
    },
  });

  const change = page({
    path: '/password/change',
    limit: 'password',
    open(visit) {
      const user = signedInUser({ ...visit, next: sections.password });
      const first = user.restriction && restrictionPages[user.restriction];
      if (first !== '/password/change')
        throw new Redirect(pageAddress(visit, first ?? sections.password));
      return user;
    },
    view(visit, user, form) {
      const { change: texts } = visit.texts;
      return {
        title: texts.title,
        lead: texts.forced,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: passwordChangeFields(visit, user, form, minLength),
          }),
          signOutForm(visit),
        ],
      };
    },
    form: {
      ...passwordChange,
      async submit(visit, given, user) {
        await changePassword(passwords, user, given, visit);
        return destination({ ...visit, next: null }, 'password_changed');
      },
    },
  });

  return { forgotPassword: forgot, resetPassword: reset, changePassword: change };
};
