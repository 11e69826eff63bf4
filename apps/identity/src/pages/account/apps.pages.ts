import type { Config } from '../../config.ts';
import type {
  Application,
  ApplicationsService,
} from '../../features/applications/applications.service.ts';
import { type Html, html } from '../../http/html.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { formOf, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import type { PermissionLines } from '../permission-lines.ts';
import { scopeLines, scopeList } from '../scope-lines.ts';
import type { Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { ago, dotted } from './device-list.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly applications: Pick<ApplicationsService, 'list' | 'find' | 'withdraw'>;
  readonly config: Pick<Config, 'brandName'>;
  readonly permissionLines: PermissionLines;
}

const addressOf = ({ clientId }: Application): string =>
  `${sections.apps}/${encodeURIComponent(clientId)}`;

/** Pages that list and remove applications with access to the account. */
export const appsPages = ({
  applications,
  config,
  permissionLines,
}: Dependencies): Record<string, AnyPage> => {
  const item = (visit: Visit, user: UserCaller, app: Application): Html => {
    const { apps: texts } = visit.texts.account;
    const { name, kind, ownerName, tenant, createdAt, lastUsedAt, hasConsent } = app;
    const whose = {
      first_party: texts.kinds.first_party(config.brandName),
      tenant: texts.kinds.tenant(ownerName ?? ''),
      third_party: texts.kinds.third_party,
    }[kind];
    const { date } = timesFor(visit.language, user.timeZone);
    return html`<li><div>
<p class="name">${name} <span class="unseen">, </span><span class="badge neutral">${whose}</span></p>
<p class="hint">${dotted([
      tenant !== null && texts.tenant(tenant.name),
      html`${texts.since} ${date(createdAt)}`,
      lastUsedAt === null ? texts.notUsed : html`${texts.lastUsed} ${ago(visit, user, lastUsedAt)}`,
    ])}</p>
<p class="hint">${texts.can}</p>
${scopeList(scopeLines(permissionLines, visit, app))}
</div><a class="button plain small" href="${addressOf(app)}">${hasConsent ? texts.withdraw : texts.signOut}<span class="unseen"> ${name}</span></a></li>`;
  };

  const list = accountPage({
    section: 'apps',
    path: sections.apps,
    open: async (_visit, user) => ({ user, apps: await applications.list(user) }),
    view(visit, { user, apps }, form) {
      const { apps: texts } = visit.texts.account;
      const groups = [
        { title: texts.allowed, lead: texts.allowedLead, hasConsent: true },
        { title: texts.signedIn, lead: texts.signedInLead, hasConsent: false },
      ].map((group) => ({
        ...group,
        own: apps.filter(({ hasConsent }) => hasConsent === group.hasConsent),
      }));
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          message(visit, form),
          apps.length === 0 && html`<h2>${texts.emptyTitle}</h2><p>${texts.empty}</p>`,
          groups
            .filter(({ own }) => own.length > 0)
            .map(
              ({ title, lead, own }) =>
                html`<h2>${title}</h2><p class="hint">${lead}</p>
<ul class="items">${own.map((app) => item(visit, user, app))}</ul>`,
            ),
        ],
      };
    },
  });

  /** Explains the effects before removing access. */
  const removal = accountPage({
    section: 'apps',
    path: `${sections.apps}/{clientId}`,
    open: async ({ req }, user) => ({
      user,
      app: await applications.find(user, String(req.params.clientId)),
    }),
    view(visit, { app }, form) {
      const { apps } = visit.texts.account;
      const texts = app.hasConsent ? apps.withdrawPage : apps.signOutPage;
      return {
        title: texts.title(app.name),
        lead: texts.lead(app.name),
        body: [
          app.hasConsent && scopeList(scopeLines(permissionLines, visit, app)),
          html`<p class="hint">${texts.hint(app.name)}</p>`,
          formOf(visit, form, {
            submit: app.hasConsent ? apps.withdraw : apps.signOut,
            beside: html`<a href="${sections.apps}">${apps.cancel}</a>`,
          }),
        ],
      };
    },
    form: {
      fields: {},
      async submit({ origin }, _nothing, { user, app }) {
        await applications.withdraw(user, app.clientId, origin);
        return `${sections.apps}?notice=${app.hasConsent ? 'app_removed' : 'app_signed_out'}`;
      },
    },
  });

  return { accountApps: list, accountApp: removal };
};
