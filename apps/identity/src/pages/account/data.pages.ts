import type { AccountDeletionService } from '../../features/account-deletion/account-deletion.service.ts';
import { FILE_NAME } from '../../features/personal-data/personal-data.schema.ts';
import type { PersonalDataService } from '../../features/personal-data/personal-data.service.ts';
import { html } from '../../http/html.ts';
import { formOf, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { signedInUser } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly accountDeletions: Pick<AccountDeletionService, 'dueAt' | 'cancel'>;
  readonly personalData: Pick<PersonalDataService, 'export'>;
}

export const DOWNLOAD = `${sections.data}/download`;
export const DELETE = `${sections.data}/delete`;

/** Pages to export personal data and delete the account. */
export const dataPages = (use: Dependencies): Record<string, AnyPage> => ({
  accountData: accountPage({
    section: 'data',
    path: sections.data,
    open: async (_visit, user) => ({ user, dueAt: await use.accountDeletions.dueAt(user) }),
    view(visit, { user, dueAt }, form) {
      const { data: texts } = visit.texts.account;
      const { moment } = timesFor(visit.language, user.timeZone);
      const download = html`<h2>${texts.download.title}</h2>
<p>${texts.download.summary}</p>
<p><a class="button plain small" href="${DOWNLOAD}">${texts.download.open}</a></p>`;
      const deletion =
        dueAt === null
          ? html`${message(visit, form)}${download}
<h2>${texts.deletion.title}</h2>
<p>${texts.deletion.summary}</p>
<p><a class="button danger small" href="${DELETE}">${texts.deletion.open}</a></p>`
          : html`${formOf(visit, form, {
              submit: texts.keep,
              content: html`<div class="notice wrong">${texts.banner(moment(dueAt))} ${texts.deletion.untilThen}</div>`,
            })}${download}`;
      return { title: texts.title, lead: texts.lead, hasNoForm: dueAt === null, body: deletion };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { user, dueAt }) {
        if (dueAt !== null) await use.accountDeletions.cancel(user, visit.origin);
        return `${sections.data}?notice=account_kept`;
      },
    },
  }),

  accountDataDownload: accountPage({
    section: 'data',
    path: DOWNLOAD,
    isSensitive: true,
    limit: 'default',
    open: (_visit, user) => user,
    view(visit, _user, form) {
      const { download: texts } = visit.texts.account.data;
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          html`<p>${texts.contents}</p><p>${texts.without}</p>`,
          formOf(visit, form, {
            submit: texts.submit,
            content: html`<p class="hint">${texts.care}</p>`,
          }),
        ],
      };
    },
    form: {
      fields: {},
      isDownload: true,
      async submit(visit) {
        const user = signedInUser(visit);
        const chunks = await use.personalData.export(user, visit.origin);
        return { name: FILE_NAME, type: 'application/json; charset=utf-8', chunks };
      },
    },
  }),
});
