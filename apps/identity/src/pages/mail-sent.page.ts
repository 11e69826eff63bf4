import { html } from '../http/html.ts';
import { formOf, link, message } from './form.ts';
import type { MailedAddress } from './mailed-address.ts';
import { type AnyPage, page } from './page.ts';
import { pageAddress, type Visit } from './visit.ts';

/** By subject of the mail: the form that sends it again and the page to correct the address. */
const mails = {
  reset: { resend: '/password/forgot', correct: '/password/forgot' },
  registration: { resend: '/email/resend', correct: '/register' },
  verification: { resend: '/email/resend', correct: '/email/resend' },
} as const;

export type MailSubject = keyof typeof mails;

/** URL of the page; `isAgain` if the mail was requested again. */
export const mailSentAddress = (visit: Visit, about: MailSubject, isAgain: boolean): string =>
  pageAddress(visit, '/mail-sent', isAgain ? { about, notice: 'mail_requested_again' } : { about });

/** Tells the user that a mail was sent, and what to do if it does not arrive. */
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
          action: pageAddress(visit, resend),
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
          link(pageAddress(visit, correct), texts.correct),
          link(pageAddress(visit, '/sign-in'), back),
        ],
      };
    },
  });
