import { openShape, optional, uuid, validate } from '@tessera/fields';
import { DisputeActivity } from '../../features/disputes/disputes.schema.ts';
import type { DisputesService } from '../../features/disputes/disputes.service.ts';
import type { ProfileService } from '../../features/profile/profile.service.ts';
import type { ActivityEntry } from '../../generated/prisma/client.ts';
import { type Content, html } from '../../http/html.ts';
import type { Places } from '../../origin/places.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { accountName, fields, formOf, link } from '../form.ts';
import type { AnyPage } from '../page.ts';
import type { Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { whatHappened, whereItHappened } from './entry.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

/** For users who do not recognize an activity; also linked from mails. */
export const notMePath = `${sections.activity}/not-me`;
const linkPath = `${notMePath}/link`;
const nextPath = `${notMePath}/next`;

interface Dependencies {
  readonly profiles: Pick<ProfileService, 'activityEntry'>;
  readonly disputes: DisputesService;
  readonly places: Pick<Places, 'of'>;
  /** Minimum length of a new password. */
  readonly minLength: number;
}

const Query = openShape({ entry: optional(uuid()) });

/** The disputed entry; null if there is none or it is not the user's. */
const entryOf = async (
  { profiles }: Dependencies,
  { query }: Visit,
  user: UserCaller,
): Promise<ActivityEntry | null> => {
  const result = validate(Query, query, 'query');
  const id = result.ok ? result.value.entry : undefined;
  return id === undefined ? null : profiles.activityEntry(user, id);
};

const withEntry = (path: string, entry: ActivityEntry | null): string =>
  entry ? `${path}?entry=${entry.id}` : path;

const inQuestion = (
  { places }: Dependencies,
  visit: Visit,
  entry: ActivityEntry | null,
): Content => {
  if (entry === null) return false;
  const times = timesFor(visit.language, visit.user?.timeZone ?? 'UTC');
  const when = `${times.day(entry.createdAt)}, ${times.time(entry.createdAt)}`;
  return html`<dl class="facts"><div><dt>${visit.texts.account.notMe.question}</dt>
<dd><strong>${whatHappened(visit, entry)}</strong><br>${[when, ...whereItHappened(visit, entry, places)].join(' · ')}</dd></div></dl>`;
};

/** "This was not me": change the password, end all other sessions, and check the account. */
export const notMePages = (use: Dependencies): Record<string, AnyPage> => {
  const { disputes, minLength } = use;
  const { activity_id: _, ...passwords } = DisputeActivity.fields;

  const secure = accountPage({
    section: 'activity',
    path: notMePath,
    limit: 'password',
    open: async (visit, user) => ({ user, entry: await entryOf(use, visit, user) }),
    view(visit, { user, entry }, form) {
      const { notMe: texts } = visit.texts.account;
      const again = { type: 'password', autocomplete: 'new-password' } as const;
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          inQuestion(use, visit, entry),
          html`<p>${texts.effects}</p><ul class="points">${texts.effectList.map((effect) => html`<li>${effect}</li>`)}</ul>`,
          formOf(visit, form, {
            submit: texts.submit,
            content: [
              accountName(user.email),
              fields(visit, form, [
                { name: 'current_password', type: 'password', autocomplete: 'current-password' },
                { name: 'new_password', ...again, hint: visit.texts.ruleHint(minLength) },
                { name: 'new_password_confirmation', ...again },
              ]),
            ],
          }),
          link(withEntry(linkPath, entry), texts.byLink, texts.forgot),
          link(sections.activity, texts.keep),
        ],
      };
    },
    form: {
      fields: passwords,
      newPassword: 'new_password',
      async submit({ origin }, given, { user, entry }) {
        const change = {
          current: given.current_password,
          password: given.new_password,
          confirmation: given.new_password_confirmation,
        };
        await disputes.byPassword(user, entry?.id ?? null, change, origin);
        return nextPath;
      },
    },
  });

  const byLink = accountPage({
    section: 'activity',
    path: linkPath,
    limit: 'passwordForgot',
    open: async (visit, user) => ({ user, entry: await entryOf(use, visit, user) }),
    view(visit, { user, entry }, form) {
      const { link: texts } = visit.texts.account.notMe;
      return {
        title: texts.title,
        lead: texts.lead(user.email ?? ''),
        body: [
          formOf(visit, form, { submit: texts.submit }),
          link(withEntry(notMePath, entry), texts.back),
        ],
      };
    },
    form: {
      fields: {},
      async submit({ origin }, _nothing, { user, entry }) {
        await disputes.byLink(user, entry?.id ?? null, origin);
        return `${nextPath}?by=link`;
      },
    },
  });

  const next = accountPage({
    section: 'activity',
    path: nextPath,
    open: () => null,
    view(visit) {
      const { next: texts } = visit.texts.account.notMe;
      const isByLink = visit.query.by === 'link';
      const checks = (['twoFactor', 'profile', 'apps', 'devices', 'activity'] as const).map(
        (name) => html`<li><a href="${sections[name]}">${texts[name]}</a></li>`,
      );
      return {
        title: isByLink ? texts.linkTitle : texts.title,
        lead: isByLink ? texts.linkLead : texts.lead,
        body: html`<h2>${texts.check}</h2><ul class="attention">${checks}</ul><p>${texts.elsewhere}</p>`,
      };
    },
  });

  return { accountNotMe: secure, accountNotMeByLink: byLink, accountSecured: next };
};
