import { html } from '../http/html.ts';
import { formOf, link, message } from './form.ts';
import type { MailedAddress } from './mailed-address.ts';
import { type AnyPage, page } from './page.ts';
import { onwards, type Visit } from './visit.ts';

/** What mails are about: the form that sends another, and the page on which the address is corrected. */
const mails = {
  reset: { resend: '/password/forgot', correct: '/password/forgot' },
  registration: { resend: '/email/resend', correct: '/register' },
  verification: { resend: '/email/resend', correct: '/email/resend' },
} as const;

export type MailSubject = keyof typeof mails;

/** The address of the page that tells of a mail; `isAgain` where it was asked for once more. */
export const mailSentAddress = (visit: Visit, about: MailSubject, isAgain: boolean): string =>
  onwards(visit, '/mail-sent', isAgain ? { about, notice: 'mail_requested_again' } : { about });

/** Says that a mail is on its way, and what to do where it does not arrive. */
export const mailSentPage = (mailed: MailedAddress): AnyPage =>
  page({
    path: '/mail-sent',
    isForAnybody: true,
    open: ({ req, query: { about = '' } }) => ({
      about: Object.hasOwn(mails, about) ? (about as MailSubject) : 'reset',
      address: mailed.of(req),
    }),
    view(visit, { about, address }, form) {
      const { mailSent: texts, back } = visit.texts;
      const { resend, correct } = mails[about];
      const again =
        address !== null &&
        formOf(visit, form, {
          action: onwards(visit, resend),
          submit: texts.again,
          isPlain: true,
          content: html`<input type="hidden" name="email" value="${address}">`,
        });
      return {
        title: texts.title,
        lead: texts[about],
        body: [
          address === null
            ? message(visit, form)
            : html`<p class="address">${texts.sentTo} <strong>${address}</strong></p>`,
          html`<p class="hint">${texts.nothing}</p>`,
          again,
          link(onwards(visit, correct), texts.correct),
          link(onwards(visit, '/sign-in'), back),
        ],
      };
    },
  });
