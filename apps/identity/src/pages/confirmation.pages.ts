import { email } from '@tessera/fields';
import { ConfirmAddress } from '../features/registration/confirmation.schema.ts';
import type {
  ConfirmationRequirements,
  ConfirmationService,
  LinkOpener,
} from '../features/registration/confirmation.service.ts';
import { confirmationCookie } from '../features/registration/confirmation-cookie.ts';
import type {
  LinkRequester,
  RegistrationService,
} from '../features/registration/registration.service.ts';
import { html } from '../http/html.ts';
import { accountName, type FieldSpec, fields, formOf, link, message, signOutForm } from './form.ts';
import { mailSentAddress } from './mail-sent.page.ts';
import type { MailedAddress } from './mailed-address.ts';
import { nullIfInvalid } from './mailed-link.ts';
import { type AnyPage, page } from './page.ts';
import { nameFields } from './person.fields.ts';
import { resultAddress } from './result.page.ts';
import { newPasswordFields } from './rule-list.ts';
import { destination, pageAddress, Redirect, signedInUser, type Visit } from './visit.ts';

interface Dependencies {
  readonly confirmation: ConfirmationService;
  readonly registration: RegistrationService;
  readonly isLocal: boolean;
  readonly mailed: MailedAddress;
  /** Minimum length of a new password. */
  readonly minLength: number;
}

const addressField: FieldSpec = { name: 'email', type: 'email', autocomplete: 'username' };

/**
 * Pages that confirm an email address: the target of the mailed link, and the page shown until it is confirmed
 * (decision I21).
 */
export const confirmationPages = (use: Dependencies): Record<string, AnyPage> => {
  const { confirmation, registration, minLength } = use;
  const cookie = confirmationCookie(use);

  const openerOf = ({ req, user }: Visit): LinkOpener => {
    const isUnlocked = user?.restriction !== 'pin_required';
    return { secret: cookie.secretOf(req), caller: isUnlocked ? user : null };
  };

  const requesterOf = ({ req, user }: Visit): LinkRequester => ({
    secret: cookie.secretOf(req),
    userId: user?.id ?? null,
  });

  /** Continues to the account only if the visitor is signed in to it. */
  const addressAfter = (visit: Visit, { userId, asks }: ConfirmationRequirements): string =>
    visit.user?.id === userId && asks === 'nothing'
      ? '/account?notice=email_verified'
      : resultAddress(visit, 'email_verified', userId);

  const { token: _, ...given } = ConfirmAddress.fields;

  /** Mail scanners open links, so only the button confirms. */
  const verifyEmail = page({
    path: '/email/verify',
    limit: 'public',
    isForAnybody: true,
    async open(visit) {
      const { token = '' } = visit.query;
      const requirements = await nullIfInvalid(confirmation.show(token, openerOf(visit)));
      if (requirements?.isConfirmed) throw new Redirect(addressAfter(visit, requirements));
      return { token, requirements };
    },
    view(visit, { token, requirements }, form) {
      const { verify: texts, claim } = visit.texts;
      if (requirements === null || form.isLinkInvalid) {
        return {
          title: texts.title,
          body: [
            html`<div class="notice wrong" role="alert">${visit.texts.problems.token}</div>`,
            formOf(visit, form.isLinkInvalid ? { ...form, alert: undefined } : form, {
              action: '/email/resend',
              submit: texts.resend,
              content: [html`<p>${texts.resendLead}</p>`, fields(visit, form, [addressField])],
            }),
          ],
        };
      }
      if (requirements.asks === 'nothing') {
        return {
          title: texts.title,
          lead: texts.lead(requirements.email),
          body: formOf(visit, form, { submit: texts.submit }),
        };
      }
      const { tenantName } = requirements;
      const tenant = { name: 'tenant_name', autocomplete: 'organization', maxlength: 200 } as const;
      const disown = `/email/disown?${new URLSearchParams({ token })}`;
      return {
        title: claim.title,
        lead: claim.lead(requirements.email),
        body: [
          formOf(visit, form, {
            submit: claim.submit,
            content: [
              html`<p>${claim.choose}</p>`,
              accountName(requirements.email),
              fields(visit, form, [
                ...nameFields(visit, requirements),
                ...(tenantName === null ? [] : [{ ...tenant, value: tenantName }]),
                ...newPasswordFields(visit, minLength),
              ]),
            ],
          }),
          link(disown, claim.notMe),
        ],
      };
    },
    form: {
      fields: given,
      newPassword: 'password',
      async submit(visit, values, { token, requirements }) {
        const owner = {
          password: values.password,
          confirmation: values.password_confirmation,
          firstName: values.first_name,
          lastName: values.last_name,
          tenantName: values.tenant_name,
        };
        await confirmation.confirm(token, openerOf(visit), owner, visit.origin);
        return requirements === null ? '/sign-in' : addressAfter(visit, requirements);
      },
    },
  });

  const disownEmail = page({
    path: '/email/disown',
    limit: 'public',
    isForAnybody: true,
    async open(visit) {
      const { token = '' } = visit.query;
      const requirements = await nullIfInvalid(confirmation.show(token, openerOf(visit)));
      return { token, requirements: requirements?.isConfirmed ? null : requirements };
    },
    view(visit, { requirements }, form) {
      const { disown: texts, back, problems } = visit.texts;
      const goBack = link(pageAddress(visit, '/sign-in'), back);
      if (requirements === null || form.isLinkInvalid) {
        const alert = message(visit, { ...form, alert: form.alert ?? problems.token });
        return { title: texts.title, hasNoForm: true, body: [alert, goBack] };
      }
      return {
        title: texts.title,
        lead: texts.lead(requirements.email),
        body: [formOf(visit, form, { submit: texts.submit }), goBack],
      };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { token, requirements }) {
        const outcome = await confirmation.disown(token, visit.origin);
        const notice = outcome === 'deleted' ? 'account_disowned' : 'account_signed_out';
        return resultAddress(visit, notice, requirements?.userId);
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
          content: fields(visit, form, [addressField]),
        }),
      };
    },
    form: {
      fields: { email: email() },
      submit(visit, { email }) {
        registration.resendVerification(email, requesterOf(visit));
        return mailSentAddress(visit, 'verification', use.mailed.keep(visit, email));
      },
    },
  });

  /** Shown to signed-in users with an unconfirmed address. */
  const confirmEmail = page({
    path: '/email/confirm',
    limit: 'public',
    open(visit) {
      const user = signedInUser(visit);
      if (user.restriction === 'pin_required') throw new Redirect(pageAddress(visit, '/pin'));
      if (user.restriction !== 'email_verification_required')
        throw new Redirect(destination(visit));
      return user;
    },
    view(visit, user, form) {
      const { confirmEmail: texts } = visit.texts;
      return {
        title: texts.title,
        lead: texts.lead(user.email ?? ''),
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: [
              html`<p>${texts.correct}</p>`,
              fields(visit, form, [{ ...addressField, value: user.email ?? '' }]),
            ],
          }),
          link(pageAddress(visit, '/email/confirm'), texts.goOn, texts.done),
          signOutForm(visit),
        ],
      };
    },
    form: {
      fields: { email: email() },
      async submit(visit, { email }, user) {
        if (email === user.email) registration.resendVerification(email, requesterOf(visit));
        else await registration.changeAddress(user, email, visit.origin);
        return pageAddress(visit, '/email/confirm', { notice: 'link_sent' });
      },
    },
  });

  return { verifyEmailAddress: verifyEmail, disownEmail, resendLink: resend, confirmEmail };
};
