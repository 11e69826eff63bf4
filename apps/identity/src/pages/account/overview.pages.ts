import type { AccountDeletionService } from '../../features/account-deletion/account-deletion.service.ts';
import type { DevicesService } from '../../features/devices/devices.service.ts';
import type { EmailChangeService } from '../../features/email-change/email-change.service.ts';
import type { MembershipsService } from '../../features/memberships/memberships.service.ts';
import type { ProfileService } from '../../features/profile/profile.service.ts';
import { type Content, type Html, html } from '../../http/html.ts';
import { message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import type { Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { attentionItems, suggestions } from './attention.ts';
import { sections } from './sections.ts';
import { roleName } from './tenants.pages.ts';

interface Dependencies {
  readonly profiles: Pick<ProfileService, 'security'>;
  readonly devices: Pick<DevicesService, 'list'>;
  readonly memberships: Pick<MembershipsService, 'show'>;
  readonly emailChanges: Pick<EmailChangeService, 'pending'>;
  readonly accountDeletions: Pick<AccountDeletionService, 'dueAt'>;
}

/**
 * Also states that nothing needs attention, unless the banner announces the deletion of the account.
 */
const attentionOf = (
  { texts }: Visit,
  items: readonly Html[],
  isBeingDeleted: boolean,
): Content => {
  const { overview } = texts.account;
  if (items.length > 0) {
    return html`<h2>${overview.attention}</h2><ul class="attention">${items}</ul>`;
  }
  return !isBeingDeleted && html`<h2>${overview.attention}</h2><p>${overview.nothing}</p>`;
};

/** The first account page: the signed-in user and what needs attention. */
export const overviewPages = (use: Dependencies): Record<string, AnyPage> => ({
  accountOverview: accountPage({
    section: 'overview',
    path: sections.overview,
    async open(_visit, user) {
      const [security, devices, pendingEmail, membership, dueAt] = await Promise.all([
        use.profiles.security(user),
        use.devices.list(user),
        use.emailChanges.pending(user),
        user.tenant && use.memberships.show(user, user.tenant.id),
        use.accountDeletions.dueAt(user),
      ]);
      return { user, membership, dueAt, state: { security, devices, pendingEmail } };
    },
    view(visit, { user, membership, dueAt, state }, form) {
      const { overview: texts } = visit.texts.account;
      const suggested = suggestions(visit, state);
      return {
        title: texts.title(user.firstName),
        lead: texts.lead,
        body: [
          message(visit, form),
          html`<dl class="facts">
<div><dt>${texts.signedInAs}</dt><dd>${user.email ?? user.firstName}</dd></div>
<div><dt>${texts.tenant}</dt><dd>${membership?.tenant.name ?? texts.noTenant}</dd></div>
${membership !== null && html`<div><dt>${texts.role}</dt><dd>${roleName(visit, membership.role)}</dd></div>`}
</dl>`,
          attentionOf(visit, attentionItems(visit, state), dueAt !== null),
          suggested.length > 0 &&
            html`<h2>${texts.suggestions}</h2><ul class="attention suggestions">${suggested}</ul>`,
        ],
      };
    },
  }),
});
