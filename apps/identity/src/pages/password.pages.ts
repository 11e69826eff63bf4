import {
  ChangePassword,
  ForgotPassword,
  ResetPassword,
} from '../features/passwords/passwords.routes.ts';
import type { PasswordsService } from '../features/passwords/passwords.service.ts';
import { html } from '../html.ts';
import { accountName, fields, formOf, link, message, signOutForm } from './form.ts';
import { mailSentAddress } from './mail-sent.page.ts';
import type { MailedAddress } from './mailed-address.ts';
import { type AnyPage, page } from './page.ts';
import { unfinished } from './unfinished.ts';
import { Elsewhere, goal, onwards, signedInUser, type Visit } from './visit.ts';

interface Dependencies {
  readonly passwords: PasswordsService;
  /** Fewest characters of a new password. */
  readonly minLength: number;
  readonly mailed: MailedAddress;
}

/** Passwords that are forgotten, reset and changed. */
export const passwordPages = ({
  passwords,
  minLength,
  mailed,
}: Dependencies): Record<string, AnyPage> => {
  const newPassword = (visit: Visit) =>
    ({
      type: 'password',
      autocomplete: 'new-password',
      hint: visit.texts.ruleHint(minLength),
    }) as const;
  const again = { type: 'password', autocomplete: 'new-password' } as const;

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
          link(onwards(visit, '/sign-in'), back),
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
    open: ({ query: { token = '', email = '' } }) => ({ token, email }),
    view(visit, { email }, form) {
      const { reset: texts, forgot: other } = visit.texts;
      if (form.isLinkDead) {
        const again = html`<p><a class="button" href="/password/forgot">${other.again}</a></p>`;
        return { title: texts.title, hasNoForm: true, body: [message(visit, form), again] };
      }
      return {
        title: texts.title,
        lead: texts.lead(email),
        body: formOf(visit, form, {
          submit: texts.submit,
          content: [
            accountName(email),
            fields(visit, form, [
              { name: 'password', ...newPassword(visit) },
              { name: 'password_confirmation', ...again },
            ]),
          ],
        }),
      };
    },
    form: {
      fields: {
        password: ResetPassword.fields.password,
        password_confirmation: ResetPassword.fields.password_confirmation,
      },
      newPassword: 'password',
      async submit(visit, { password, password_confirmation: confirmation }, link) {
        await passwords.reset({ ...link, password, confirmation }, visit.origin);
        return '/sign-in?notice=password_reset';
      },
    },
  });

  const change = page({
    path: '/password/change',
    open(visit) {
      const user = signedInUser({ ...visit, next: '/password/change' });
      const first = user.restriction && unfinished[user.restriction];
      if (first && first !== '/password/change') throw new Elsewhere(onwards(visit, first));
      return user;
    },
    view(visit, user, form) {
      const { change: texts } = visit.texts;
      const isForced = user.restriction === 'password_change_required';
      return {
        title: texts.title,
        lead: isForced ? texts.forced : texts.lead,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: [
              accountName(user.email),
              fields(visit, form, [
                {
                  name: 'current_password',
                  type: 'password',
                  autocomplete: 'current-password',
                },
                { name: 'new_password', ...newPassword(visit) },
                { name: 'new_password_confirmation', ...again },
              ]),
            ],
          }),
          isForced && signOutForm(visit),
        ],
      };
    },
    form: {
      fields: ChangePassword.fields,
      newPassword: 'new_password',
      async submit(visit, given, user) {
        const change = {
          current: given.current_password,
          password: given.new_password,
          confirmation: given.new_password_confirmation,
        };
        await passwords.change(user, change, visit.origin);
        return goal({ ...visit, next: null }, 'password_changed');
      },
    },
  });

  return { forgotPassword: forgot, resetPassword: reset, changePassword: change };
};
