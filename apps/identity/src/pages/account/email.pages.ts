import { email, oneOf } from '@tessera/fields';
import type {
  EmailChangeService,
  PendingChange,
} from '../../features/email-change/email-change.service.ts';
import { type Html, html } from '../../http/html.ts';
import { fields, formOf, link, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly emailChanges: EmailChangeService;
}

const PENDING = '/account/profile/email/pending';

const toProfile = (notice: string): string => `${sections.profile}?notice=${notice}`;

/** The pending address change with its actions. */
export const pendingEmail = (
  { texts, language, formToken }: Visit,
  { timezone: timeZone }: { readonly timezone: string },
  { email, expiresAt }: PendingChange,
): Html => {
  const { email: words } = texts.account;
  const until = timesFor(language, timeZone).moment(expiresAt);
  return html`<ul class="attention"><li>
<strong>${words.pendingTitle}</strong>
<p>${words.pending(email, until)}</p>
<form method="post" action="${PENDING}" class="buttons">
<input type="hidden" name="form_token" value="${formToken}">
<button type="submit" class="plain small" name="action" value="resend">${words.resend}</button>
<button type="submit" class="plain small" name="action" value="cancel">${words.cancel}</button>
</form>
</li></ul>`;
};

/** Pages to change the email address and manage a pending change. */
export const emailPages = ({ emailChanges }: Dependencies): Record<string, AnyPage> => {
  const change = accountPage({
    section: 'profile',
    path: '/account/profile/email',
    isSensitive: true,
    open: (_visit, user) => user,
    view(visit, user, form) {
      const { email: texts } = visit.texts.account;
      return {
        title: texts.title,
        lead: texts.lead(user.email ?? ''),
        body: [
          formOf(visit, form, {
            submit: texts.submit,
            content: fields(visit, form, [
              { name: 'email', type: 'email', autocomplete: 'email', label: texts.newAddress },
            ]),
          }),
          html`<p class="hint">${texts.undo}</p>`,
          link(sections.profile, texts.back),
        ],
      };
    },
    form: {
      fields: { email: email() },
      async submit(visit, given, user) {
        if (given.email === user.email) return '/account/profile/email?notice=email_unchanged';
        await emailChanges.request(user, given.email, visit.origin);
        return toProfile('email_change_requested');
      },
    },
  });

  const pending = accountPage({
    section: 'profile',
    path: PENDING,
    async open(_visit, user) {
      const change = await emailChanges.pending(user);
      if (!change) throw new Redirect(sections.profile);
      return { user, change };
    },
    view(visit, { user, change }, form) {
      const { email: texts } = visit.texts.account;
      return {
        title: texts.title,
        hasNoForm: true,
        body: [
          message(visit, form),
          pendingEmail(visit, { timezone: user.timeZone }, change),
          link(sections.profile, texts.back),
        ],
      };
    },
    form: {
      fields: { action: oneOf('resend', 'cancel') },
      async submit(visit, { action }, { user }) {
        if (action === 'cancel') {
          await emailChanges.cancel(user, visit.origin);
          return toProfile('email_change_canceled');
        }
        await emailChanges.resend(user);
        return toProfile('email_change_requested');
      },
    },
  });

  return { accountEmail: change, accountPendingEmail: pending };
};
