import { email, text } from '@tessera/fields';
import { AcceptInvitation } from '../features/registration/invitations.routes.ts';
import type {
  InvitationsService,
  ShownInvitation,
} from '../features/registration/invitations.service.ts';
import { Register } from '../features/registration/registration.routes.ts';
import type { RegistrationService } from '../features/registration/registration.service.ts';
import { html } from '../html.ts';
import { accountName, type FieldSpec, fields, formOf, link } from './form.ts';
import { mailSentAddress } from './mail-sent.page.ts';
import type { MailedAddress } from './mailed-address.ts';
import { type AnyPage, page } from './page.ts';
import { onwards, type Visit } from './visit.ts';

interface Dependencies {
  readonly registration: RegistrationService;
  readonly invitations: InvitationsService;
  /** Whether anybody may register. */
  readonly isOpen: boolean;
  readonly mailed: MailedAddress;
  /** Fewest characters of a new password. */
  readonly minLength: number;
}

/** In the order in which the reader's language has them. */
const names = ({ texts: { isFamilyNameFirst } }: Visit): readonly FieldSpec[] => {
  const given = { name: 'first_name', autocomplete: 'given-name', maxlength: 200 } as const;
  const family = { name: 'last_name', autocomplete: 'family-name', maxlength: 200 } as const;
  return isFamilyNameFirst ? [family, given] : [given, family];
};

/** New people: who register, confirm their address, or accept an invitation. */
export const registrationPages = (use: Dependencies): Record<string, AnyPage> => {
  const { registration, invitations, isOpen, minLength, mailed } = use;
  const passwords = (visit: Visit): readonly FieldSpec[] => {
    const type = { type: 'password', autocomplete: 'new-password' } as const;
    return [
      { name: 'password', ...type, hint: visit.texts.ruleHint(minLength) },
      { name: 'password_confirmation', ...type },
    ];
  };

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
              ...names(visit),
              { name: 'tenant_name', autocomplete: 'organization', maxlength: 200 },
              { name: 'email', type: 'email', autocomplete: 'username' },
              ...passwords(visit),
            ]),
          }),
          link(onwards(visit, '/sign-in'), signIn.title, texts.hasAccount),
        ],
      };
    },
    form: {
      fields: { ...ownFields, tenant_name: text(200) },
      newPassword: 'password',
      async submit(visit, given) {
        const person = {
          ...{ firstName: given.first_name, lastName: given.last_name, email: given.email },
          ...{ password: given.password, confirmation: given.password_confirmation },
          locale: visit.language,
        };
        await registration.registerOwner(person, given.tenant_name, visit.origin);
        return mailSentAddress(visit, 'registration', mailed.keep(visit, given.email));
      },
    },
  });

  /** Programs follow the links of mails before their reader does: it is the button that confirms. */
  const verifyEmail = page({
    path: '/email/verify',
    limit: 'public',
    isForAnybody: true,
    open: ({ query: { token = '' } }) => ({ token }),
    view(visit, _token, form) {
      const { verify: texts } = visit.texts;
      if (form.isLinkDead) {
        return {
          title: texts.title,
          body: [
            formOf(visit, form, {
              action: '/email/resend',
              submit: texts.resend,
              content: [
                html`<p>${texts.resendLead}</p>`,
                fields(visit, form, [{ name: 'email', type: 'email', autocomplete: 'username' }]),
              ],
            }),
          ],
        };
      }
      return {
        title: texts.title,
        lead: texts.lead,
        body: formOf(visit, form, { submit: texts.submit }),
      };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { token }) {
        await registration.verifyEmail(token, visit.origin);
        return '/sign-in?notice=email_verified';
      },
    },
  });

  const resend = page({
    path: '/email/resend',
    limit: 'public',
    isForAnybody: true,
    open: () => null,
    view(visit, _nothing, form) {
      const { verify: texts } = visit.texts;
      return {
        title: texts.title,
        body: formOf(visit, form, {
          submit: texts.resend,
          content: fields(visit, form, [
            { name: 'email', type: 'email', autocomplete: 'username' },
          ]),
        }),
      };
    },
    form: {
      fields: { email: email() },
      submit(visit, given) {
        registration.resendVerification(given.email);
        return mailSentAddress(visit, 'verification', mailed.keep(visit, given.email));
      },
    },
  });

  const asked = (visit: Visit, { asks }: ShownInvitation): readonly FieldSpec[] => [
    ...(asks === 'name_and_password' ? names(visit) : []),
    ...(asks === 'nothing' ? [] : passwords(visit)),
  ];

  const { token: _token, ...acceptance } = AcceptInvitation.fields;
  const acceptInvitation = page({
    path: '/invitations/accept',
    limit: 'public',
    isForAnybody: true,
    async open({ query: { token = '' } }) {
      return { token, invitation: await invitations.show(token) };
    },
    view(visit, { invitation }, form) {
      const { invitation: texts } = visit.texts;
      return {
        title: texts.title(invitation.tenant),
        lead: texts.lead(invitation.email),
        body: formOf(visit, form, {
          submit: texts.submit,
          content: [
            invitation.asks !== 'nothing' && [
              html`<p>${texts.choose}</p>`,
              accountName(invitation.email),
            ],
            fields(visit, form, asked(visit, invitation)),
          ],
        }),
      };
    },
    form: {
      fields: acceptance,
      async submit(visit, given, { token }) {
        const acceptance = {
          ...{ firstName: given.first_name, lastName: given.last_name },
          ...{ password: given.password, confirmation: given.password_confirmation },
        };
        await invitations.accept(token, acceptance, {
          origin: visit.origin,
          locale: visit.language,
        });
        return '/sign-in?notice=invitation_accepted';
      },
    },
  });

  const pages = {
    verifyEmailAddress: verifyEmail,
    resendLink: resend,
    invitation: acceptInvitation,
  };
  return isOpen ? { registration: register, ...pages } : pages;
};
