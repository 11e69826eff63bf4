import type { EmailChangeService } from '../features/email-change/email-change.service.ts';
import { html } from '../http/html.ts';
import { sections } from './account/sections.ts';
import { type FormState, formOf, link, message } from './form.ts';
import type { View } from './layout.ts';
import { nullIfInvalid } from './mailed-link.ts';
import { type AnyPage, page } from './page.ts';
import { resultAddress } from './result.page.ts';
import { Redirect, type Visit } from './visit.ts';

interface Dependencies {
  readonly emailChanges: EmailChangeService;
}

/** Shown instead of the form if the link is invalid. */
const invalidLink = (visit: Visit, title: string, form: FormState, goOn: string): View => ({
  title,
  hasNoForm: true,
  body: [
    message(visit, { ...form, alert: form.alert ?? visit.texts.problems.token }),
    link(goOn, visit.texts.emailChange.goOn),
  ],
});

/**
 * Targets of the links in mails about address changes. Only the button changes something, never opening the
 * link.
 */
export const emailChangePages = ({ emailChanges }: Dependencies): Record<string, AnyPage> => {
  const addressAfter = (visit: Visit, userId: string): string =>
    visit.user?.id === userId
      ? `${sections.profile}?notice=email_changed`
      : resultAddress(visit, 'email_changed', userId);

  const confirm = page({
    path: '/email/change',
    limit: 'public',
    isForAnybody: true,
    async open(visit) {
      const { token = '' } = visit.query;
      const change = await nullIfInvalid(emailChanges.show(token));
      if (change?.isConfirmed) throw new Redirect(addressAfter(visit, change.userId));
      return { token, change };
    },
    view(visit, { change }, form) {
      const { emailChange: texts } = visit.texts;
      if (change === null || form.isLinkInvalid) {
        return invalidLink(visit, texts.title, form, sections.profile);
      }
      return {
        title: texts.title,
        lead: texts.lead(change.email),
        body: formOf(visit, form, { submit: texts.submit }),
      };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { token, change }) {
        await emailChanges.confirm(token, visit.origin);
        return addressAfter(visit, change?.userId ?? '');
      },
    },
  });

  const undo = page({
    path: '/email/undo',
    limit: 'public',
    isForAnybody: true,
    async open(visit) {
      const { token = '' } = visit.query;
      return { token, link: await nullIfInvalid(emailChanges.showUndo(token)) };
    },
    view(visit, { link: found }, form) {
      const { undo: texts } = visit.texts.emailChange;
      if (found === null || form.isLinkInvalid) {
        return invalidLink(visit, texts.title, form, '/password/forgot');
      }
      return {
        title: texts.title,
        lead: texts.lead(found.email),
        body: [
          html`<ul class="points">${texts.points.map((point) => html`<li>${point}</li>`)}</ul>`,
          formOf(visit, form, { submit: texts.submit }),
        ],
      };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { token }) {
        const restored = await emailChanges.undo(token, visit.origin);
        const query = { token: restored.token, notice: 'email_restored' };
        return `/password/reset?${new URLSearchParams(query)}`;
      },
    },
  });

  return { confirmEmailChange: confirm, undoEmailChange: undo };
};
