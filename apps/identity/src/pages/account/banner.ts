import type { AccountDeletionService } from '../../features/account-deletion/account-deletion.service.ts';
import { type Content, html } from '../../http/html.ts';
import type { Visit } from '../visit.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly accountDeletions: Pick<AccountDeletionService, 'dueAt'>;
}

/** A separate form that cancels the deletion from any page. */
const keepForm = ({ tokens, texts }: Visit) => html`<form method="post" action="${sections.data}">
<input type="hidden" name="form_token" value="${tokens.user}">
<button type="submit" class="plain small">${texts.account.data.keep}</button>
</form>`;

/**
 * Banner of an account that is scheduled for deletion; not shown on the page that shows it itself.
 */
export const accountBanner =
  ({ accountDeletions }: Dependencies) =>
  async (visit: Visit): Promise<Content> => {
    const { user, req, language, texts } = visit;
    if (user === null || req.path === sections.data) return undefined;
    const dueAt = await accountDeletions.dueAt(user);
    if (dueAt === null) return undefined;
    const { moment } = timesFor(language, user.timeZone);
    return html`<div class="banner" role="status"><p>${texts.account.data.banner(moment(dueAt))}</p>${keepForm(visit)}</div>`;
  };
