import { lastPage } from '@tessera/http-kit';
import { ACTIVITY_KINDS, type ActivityKind } from '../../activity/actions.ts';
import type { ProfileService } from '../../features/profile/profile.service.ts';
import type { ActivityEntry } from '../../generated/prisma/client.ts';
import { type Content, type Html, html } from '../../http/html.ts';
import type { Places } from '../../origin/places.ts';
import type { AnyPage } from '../page.ts';
import type { Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { isDisputable, whatHappened, whereItHappened } from './entry.ts';
import { notMePath } from './not-me.pages.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly profiles: Pick<ProfileService, 'activity'>;
  readonly places: Pick<Places, 'of'>;
}

const PER_PAGE = 20;

/** Days of each time range. */
const PERIODS = { day: 1, week: 7, month: 30, quarter: 90 } as const;
type Period = keyof typeof PERIODS;

/** The chosen filter; unknown values do not filter. */
interface Filter {
  readonly kind: ActivityKind | undefined;
  readonly period: Period | undefined;
  readonly page: number;
}

const filterOf = ({ query: { kind, period = '', page = '' } }: Visit): Filter => ({
  kind: ACTIVITY_KINDS.find((known) => known === kind),
  period: Object.hasOwn(PERIODS, period) ? (period as Period) : undefined,
  page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1,
});

const startOf = (period: Period | undefined): Date | undefined =>
  period && new Date(Date.now() - PERIODS[period] * 86_400_000);

const addressOf = ({ kind, period }: Filter, page: number): string => {
  const search = new URLSearchParams({
    ...(kind && { kind }),
    ...(period && { period }),
    ...(page > 1 && { page: `${page}` }),
  });
  return `${sections.activity}${search.size > 0 ? `?${search}` : ''}`;
};

const choice = (
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): Html => html`<div class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}">${options.map(
  ([value, text]) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>`,
)}</select>
</div>`;

const filterForm = ({ texts, user }: Visit, { kind, period }: Filter): Html => {
  const { activity } = texts.account;
  // Only system administrators have entries of this kind.
  const kinds = ACTIVITY_KINDS.filter(
    (each) => each !== 'administration' || user?.isSystemAdmin || each === kind,
  );
  const { any, ...periods } = activity.periods;
  return html`<form class="filters" method="get" action="${sections.activity}">
${choice('kind', activity.kind, [['', activity.allKinds], ...kinds.map((each) => [each, activity.kinds[each]] as const)], kind)}
${choice('period', activity.period, [['', any], ...Object.entries(periods)], period)}
<button type="submit" class="plain">${activity.filter}</button>
</form>`;
};

const entryOf = (
  visit: Visit,
  entry: ActivityEntry,
  time: string,
  places: Dependencies['places'],
): Html => {
  const { notMe } = visit.texts.account.activity;
  const what = whatHappened(visit, entry);
  const when = html`<time datetime="${entry.createdAt.toISOString()}">${time}</time>`;
  return html`<li>
<div><strong>${what}</strong>
<p class="hint">${when}${whereItHappened(visit, entry, places).map((part) => html` · ${part}`)}</p></div>
${
  isDisputable(entry) &&
  html`<a class="quiet" href="${notMePath}?entry=${entry.id}" aria-label="${notMe}: ${what}, ${time}">${notMe}</a>`
}
</li>`;
};

const byDay = (
  visit: Visit,
  entries: readonly ActivityEntry[],
  places: Dependencies['places'],
): Html[] => {
  const times = timesFor(visit.language, visit.user?.timeZone ?? 'UTC');
  const groups = new Map<string, ActivityEntry[]>();
  for (const entry of entries) {
    const day = times.day(entry.createdAt);
    groups.set(day, [...(groups.get(day) ?? []), entry]);
  }
  return [...groups].map(
    ([day, ofDay]) =>
      html`<h2>${day}</h2><ul class="items">${ofDay.map((entry) =>
        entryOf(visit, entry, times.time(entry.createdAt), places),
      )}</ul>`,
  );
};

const pageLinks = ({ texts }: Visit, filter: Filter, page: number, last: number): Content => {
  const { activity } = texts.account;
  return (
    last > 1 &&
    html`<nav class="pages" aria-label="${activity.pages}">
${page > 1 ? html`<a rel="prev" href="${addressOf(filter, page - 1)}">${activity.newer}</a>` : html`<span></span>`}
<span>${activity.page(page, last)}</span>
${page < last ? html`<a rel="next" href="${addressOf(filter, page + 1)}">${activity.older}</a>` : html`<span></span>`}
</nav>`
  );
};

/** The activity log of the user's own account. */
export const activityPages = ({ profiles, places }: Dependencies): Record<string, AnyPage> => ({
  accountActivity: accountPage({
    section: 'activity',
    path: sections.activity,
    async open(visit, user) {
      const filter = filterOf(visit);
      const { kind, period, page } = filter;
      const from = startOf(period);
      const found = await profiles.activity(user, { kind, from, page, perPage: PER_PAGE });
      return { filter, found };
    },
    view(visit, { filter, found }) {
      const { activity: texts, frame } = visit.texts.account;
      const isFiltered = filter.kind !== undefined || filter.period !== undefined;
      const { rows, page, total } = found;
      return {
        title: frame.sections.activity,
        lead: texts.lead,
        body: [
          filterForm(visit, filter),
          rows.length === 0 && html`<p>${isFiltered ? texts.noneFound : texts.none}</p>`,
          rows.length === 0 &&
            isFiltered &&
            html`<p><a href="${sections.activity}">${texts.showAll}</a></p>`,
          byDay(visit, rows, places),
          pageLinks(visit, filter, page, lastPage(total, PER_PAGE)),
        ],
      };
    },
  }),
});
