import type { DevicesService } from '../../features/devices/devices.service.ts';
import type { EmailChangeService } from '../../features/email-change/email-change.service.ts';
import type { MembershipsService } from '../../features/memberships/memberships.service.ts';
import type { ProfileService } from '../../features/profile/profile.service.ts';
import { html } from '../../html.ts';
import { message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { accountPage } from './account-page.ts';
import { attentionItems, suggestions } from './attention.ts';
import { sections } from './sections.ts';
import { roleName } from './tenants.pages.ts';

interface Dependencies {
  readonly profiles: Pick<ProfileService, 'security'>;
  readonly devices: Pick<DevicesService, 'list'>;
  readonly memberships: Pick<MembershipsService, 'show'>;
  readonly emailChanges: Pick<EmailChangeService, 'pending'>;
}

/** The first account page: who is signed in, and what needs their attention. */
export const overviewPages = (use: Dependencies): Record<string, AnyPage> => ({
  accountOverview: accountPage({
    section: 'overview',
    path: sections.overview,
    async open(_visit, user) {
      const [security, devices, pendingEmail, membership] = await Promise.all([
        use.profiles.security(user),
        use.devices.list(user),
        use.emailChanges.pending(user),
        user.tenant && use.memberships.show(user, user.tenant.id),
      ]);
      return { user, membership, state: { security, devices, pendingEmail } };
    },
    view(visit, { user, membership, state }, form) {
      const { overview: texts } = visit.texts.account;
      const attention = attentionItems(visit, state);
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
</dl>
<h2>${texts.attention}</h2>
${attention.length === 0 ? html`<p>${texts.nothing}</p>` : html`<ul class="attention">${attention}</ul>`}`,
          suggested.length > 0 &&
            html`<h2>${texts.suggestions}</h2><ul class="attention suggestions">${suggested}</ul>`,
        ],
      };
    },
  }),
});
