import { rawText, text } from '@tessera/fields';
import {
  confirmationCookie,
  setConfirmationCookie,
} from '../features/registration/confirmation-cookie.ts';
import { Register } from '../features/registration/registration.schema.ts';
import type { RegistrationService } from '../features/registration/registration.service.ts';
import { fields, formOf, link } from './form.ts';
import { mailSentAddress } from './mail-sent.page.ts';
import type { MailedAddress } from './mailed-address.ts';
import { type AnyPage, page } from './page.ts';
import { nameFields } from './person.fields.ts';
import { newPasswordFields } from './rule-list.ts';
import { pageAddress } from './visit.ts';

interface Dependencies {
  readonly registration: RegistrationService;
  /** Whether registration is enabled. */
  readonly isOpen: boolean;
  readonly isLocal: boolean;
  /** Seconds after which an unconfirmed account is deleted. */
  readonly lifetime: number;
  readonly mailed: MailedAddress;
  /** Minimum length of a new password. */
  readonly minLength: number;
}

const password = rawText(1000, 0);

/** The registration page. */
export const registrationPages = (use: Dependencies): Record<string, AnyPage> => {
  const { registration, isOpen, minLength, mailed } = use;
  const cookie = confirmationCookie(use);

  const { role: _, ...ownFields } = Register.fields;
  const register = page({
    path: '/register',
    limit: 'public',
    isForAnybody: true,
    open: () => null,
    view(visit, _nothing, form) {
      const { register: texts, signIn } = visit.texts;
      return {
        title: texts.title,
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: fields(visit, form, [
              ...nameFields(visit),
              { name: 'tenant_name', autocomplete: 'organization', maxlength: 200 },
              { name: 'email', type: 'email', autocomplete: 'username' },
              ...newPasswordFields(visit, minLength),
            ]),
          }),
          link(pageAddress(visit, '/sign-in'), signIn.title, texts.hasAccount),
        ],
      };
    },
    form: {
      fields: {
        ...ownFields,
        password,
        password_confirmation: password,
        tenant_name: text(200),
      },
      newPassword: 'password',
      async submit(visit, given) {
        const input = {
          firstName: given.first_name,
          lastName: given.last_name,
          email: given.email,
          password: given.password,
          confirmation: given.password_confirmation,
          tenantName: given.tenant_name,
          locale: visit.language,
        };
        const secret = setConfirmationCookie(cookie, visit.req, visit.res, use.lifetime);
        await registration.register(input, secret, visit.origin);
        return mailSentAddress(visit, 'registration', mailed.keep(visit, given.email));
      },
    },
  });

  return isOpen ? { registration: register } : {};
};
