import type { ProfileService } from '../../features/profile/profile.service.ts';
import { html } from '../../html.ts';
import { message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';

interface Dependencies {
  readonly profiles: Pick<ProfileService, 'security'>;
}

/** The first account page: who is signed in, and what needs their attention. */
export const overviewPages = ({ profiles }: Dependencies): Record<string, AnyPage> => ({
  accountOverview: accountPage({
    section: 'overview',
    path: sections.overview,
    open: async (_visit, user) => ({ user, security: await profiles.security(user) }),
    view(visit, { user, security }, form) {
      const { overview: texts } = visit.texts.account;
      const attention = [
        !security.twoFactorEnabled &&
          html`<li><a href="${sections.twoFactor}">${texts.twoFactorOff}</a></li>`,
      ].filter((item) => item !== false);
      return {
        title: texts.title(user.firstName),
        lead: texts.lead,
        body: [
          message(visit, form),
          html`<dl class="facts">
<div><dt>${texts.signedInAs}</dt><dd>${user.email ?? user.firstName}</dd></div>
<div><dt>${texts.tenant}</dt><dd>${user.tenant?.name ?? texts.noTenant}</dd></div>
</dl>
<h2>${texts.attention}</h2>
${attention.length === 0 ? html`<p>${texts.nothing}</p>` : html`<ul class="attention">${attention}</ul>`}`,
        ],
      };
    },
  }),
});
