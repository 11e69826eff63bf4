import { HttpError } from '@tessera/http-kit';
import type { AccountDeletionService } from '../../features/account-deletion/account-deletion.service.ts';
import type { Blockers } from '../../features/account-deletion/blockers.ts';
import { type Html, html } from '../../http/html.ts';
import { formOf, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { DELETE, DOWNLOAD } from './data.pages.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly accountDeletions: Pick<AccountDeletionService, 'state' | 'request'>;
}

/** What blocks the deletion and how to resolve it. */
const obstacles = ({ texts }: Visit, { tenants, isLastAdministrator }: Blockers): Html => {
  const { blocked } = texts.account.data.deletion;
  return html`<ul class="attention">
${tenants.map(({ name }) => html`<li><strong>${name}</strong><br>${blocked.lastOwner}</li>`)}
${isLastAdministrator && html`<li>${blocked.lastAdministrator}</li>`}
</ul>
<p class="hint">${blocked.afterwards}</p>`;
};

const goBack = ({ texts }: Visit): Html =>
  html`<a href="${sections.data}">${texts.account.data.deletion.back}</a>`;

/** The page that confirms the deletion of the account: its effects, its date and what blocks it. */
export const deletionPages = ({ accountDeletions }: Dependencies): Record<string, AnyPage> => ({
  accountDeletion: accountPage({
    section: 'data',
    path: DELETE,
    isSensitive: true,
    limit: 'password',
    async open(_visit, user) {
      const state = await accountDeletions.state(user);
      if (state.deletion !== null) throw new Redirect(sections.data);
      return { user, ...state };
    },
    view(visit, { user, blockers, wouldBeDueAt }, form) {
      const { deletion: texts } = visit.texts.account.data;
      const { moment } = timesFor(visit.language, user.timeZone);
      const isBlocked = blockers.tenants.length > 0 || blockers.isLastAdministrator;
      if (isBlocked) {
        return {
          title: texts.blocked.title,
          lead: texts.blocked.lead,
          hasNoForm: true,
          body: [
            message(visit, form),
            obstacles(visit, blockers),
            html`<p class="below">${goBack(visit)}</p>`,
          ],
        };
      }
      return {
        title: texts.confirm.title,
        lead: texts.confirm.lead(moment(wouldBeDueAt)),
        body: [
          html`<ul class="scopes">${texts.confirm.losses.map((loss) => html`<li>${loss}</li>`)}</ul>
<p>${texts.confirm.untilThen}</p>
<p><a href="${DOWNLOAD}">${texts.confirm.downloadFirst}</a></p>`,
          formOf(visit, form, {
            submit: texts.confirm.submit,
            isDangerous: true,
            beside: goBack(visit),
          }),
        ],
      };
    },
    form: {
      fields: {},
      async submit(visit, _nothing, { user }) {
        try {
          await accountDeletions.request(user, visit.origin);
        } catch (error) {
          const isBlocked = error instanceof HttpError && error.status === 409;
          // The reopened page shows what blocks the deletion.
          throw isBlocked ? new Redirect(DELETE) : error;
        }
        return `${sections.data}?notice=deletion_scheduled`;
      },
    },
  }),
});
