import { openShape, optional, uuid, validate } from '@tessera/fields';
import type {
  Membership,
  MembershipsService,
} from '../../features/memberships/memberships.service.ts';
import { type Content, type Html, html } from '../../http/html.ts';
import { formOf, link, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { stateOfTenant } from '../tenant-state.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly memberships: MembershipsService;
}

const leavePath = `${sections.tenants}/leave`;

const Query = openShape({ tenant: optional(uuid()) });

/** The role name in the visitor's language; a tenant's own roles keep their names. */
export const roleName = ({ texts }: Visit, { name, tenantId }: Membership['role']): string => {
  const roles: Readonly<Record<string, string>> = texts.account.tenants.roles;
  return (tenantId === null && Object.hasOwn(roles, name) && roles[name]) || name;
};

const switchForm = (visit: Visit, { tenant }: Membership): Html => {
  const { tenants: texts } = visit.texts.account;
  return html`<form method="post">
<input type="hidden" name="form_token" value="${visit.formToken}">
<input type="hidden" name="tenant_id" value="${tenant.id}">
<button type="submit" class="plain small" aria-label="${texts.switchTo(tenant.name)}">${texts.switch}</button>
</form>`;
};

const itemOf = (visit: Visit, membership: Membership): Html => {
  const { tenants: texts } = visit.texts.account;
  const { tenant, role, createdAt } = membership;
  const { date } = timesFor(visit.language, visit.user?.timeZone ?? 'UTC');
  const isCurrent = tenant.id === visit.user?.tenant?.id;
  const state = stateOfTenant(visit.texts, tenant.status);
  return html`<li>
<div><strong>${tenant.name}</strong> ${isCurrent && html`<span class="badge">${texts.current}</span>`}
${state !== null && html`<span class="badge warning">${state.badge}</span>`}
<p class="hint">${texts.role(roleName(visit, role))} · ${texts.since(date(createdAt))}</p>
${state !== null && html`<p class="hint">${state.hint}</p>`}</div>
<div class="beside">${state === null && !isCurrent && switchForm(visit, membership)}
<a class="quiet" href="${leavePath}?tenant=${tenant.id}" aria-label="${texts.leaveNamed(tenant.name)}">${texts.leave}</a></div>
</li>`;
};

/** Pages to list, switch and leave organizations. */
export const tenantPages = ({ memberships }: Dependencies): Record<string, AnyPage> => {
  const all = accountPage({
    section: 'tenants',
    path: sections.tenants,
    open: async (_visit, user) => ({ user, found: await memberships.list(user) }),
    view(visit, { found }, form) {
      const { tenants: texts, frame } = visit.texts.account;
      return {
        title: frame.sections.tenants,
        lead: texts.lead,
        hasNoForm: true,
        body: [
          message(visit, form),
          found.length === 0
            ? html`<p>${texts.none}</p>`
            : html`<ul class="items">${found.map((each) => itemOf(visit, each))}</ul>`,
          found.length > 1 && html`<p class="hint">${texts.switchHint}</p>`,
        ],
      };
    },
    form: {
      fields: { tenant_id: uuid() },
      async submit({ origin }, { tenant_id }, { user }) {
        await memberships.startIn(user, tenant_id, origin);
        return `${sections.tenants}?notice=tenant_switched`;
      },
    },
  });

  const leave = accountPage({
    section: 'tenants',
    path: leavePath,
    async open({ query }, user) {
      const result = validate(Query, query, 'query');
      const id = result.ok ? result.value.tenant : undefined;
      // A sign-in returns here without the query.
      if (id === undefined) throw new Redirect(sections.tenants);
      const { tenant } = await memberships.show(user, id);
      return { user, tenant, isLastOwner: await memberships.isLastOwner(user, id) };
    },
    view(visit, { tenant, isLastOwner }, form) {
      const { leaving: texts } = visit.texts.account.tenants;
      const title = texts.title(tenant.name);
      const keep: Content = link(sections.tenants, texts.keep);
      if (isLastOwner) {
        return {
          title,
          hasNoForm: true,
          body: [
            html`<div class="notice wrong">${texts.lastOwner}</div>`,
            html`<p>${texts.lastOwnerHelp}</p>`,
            keep,
          ],
        };
      }
      return {
        title,
        lead: texts.lead,
        body: [
          html`<p>${texts.effects}</p><ul class="points">${texts.effectList.map((effect) => html`<li>${effect}</li>`)}</ul>`,
          formOf(visit, form, { submit: texts.submit, isDangerous: true }),
          keep,
        ],
      };
    },
    form: {
      fields: {},
      async submit({ origin }, _nothing, { user, tenant }) {
        await memberships.leave(user, tenant.id, origin);
        return `${sections.tenants}?notice=tenant_left`;
      },
    },
  });

  return { accountTenants: all, accountLeaveTenant: leave };
};
