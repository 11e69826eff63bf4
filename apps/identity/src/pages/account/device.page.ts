import { oneOf, optional, rawText, uuid } from '@tessera/fields';
import { notFound, validationFailed } from '@tessera/http-kit';
import type { DevicesService } from '../../features/devices/devices.service.ts';
import type {
  ListedSession,
  OpenSessionsService,
} from '../../features/sessions/open-sessions.service.ts';
import { type Content, type Html, html } from '../../http/html.ts';
import { UNKNOWN } from '../../origin/user-agent.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { fields, formOf, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import type { Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { type DeviceEntry, deviceEntries, entryName } from './device-entries.ts';
import { ago, buttonForm, dotted } from './device-list.ts';
import { placeInWords } from './place.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly devices: Pick<DevicesService, 'list' | 'revoke' | 'rename' | 'distrust'>;
  readonly openSessions: Pick<OpenSessionsService, 'list' | 'end'>;
}

type Device = NonNullable<DeviceEntry['device']>;

interface DeviceData {
  readonly user: UserCaller;
  readonly device: Device;
  readonly entry: DeviceEntry;
}

const fact = (name: string, value: Content): Content =>
  value !== undefined && value !== false && html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const factsOf = (visit: Visit, { user, device, entry }: DeviceData): Html => {
  const { facts, ...texts } = visit.texts.account.devices;
  const { date, moment } = timesFor(visit.language, user.timeZone);
  const { trustedUntil } = device;
  const [only] = entry.sessions.length === 1 ? entry.sessions : [];
  const status = entry.sessions.length > 0 ? texts.signedIn : texts.notSignedIn;
  return html`<dl class="facts">
${fact(facts.status, entry.isCurrent ? texts.thisDevice : status)}
${fact(facts.browser, device.browser !== UNKNOWN && device.browser)}
${fact(facts.os, device.os !== UNKNOWN && device.os)}
${fact(facts.place, placeInWords(visit, device.place) ?? false)}
${fact(facts.ipAddress, device.ipAddress ?? false)}
${fact(facts.lastUsed, entry.isCurrent ? texts.activeNow : moment(entry.lastUsedAt))}
${fact(facts.since, date(device.createdAt))}
${fact(facts.signedInSince, only !== undefined && moment(only.createdAt))}
${fact(facts.apps, only !== undefined && only.applications.length > 0 && only.applications.join(', '))}
${fact(texts.trusted, device.isTrusted && trustedUntil !== null && texts.trustedUntil(date(trustedUntil)))}
</dl>`;
};

const sessionItem = (visit: Visit, { user }: DeviceData, session: ListedSession): Html => {
  const { devices: texts } = visit.texts.account;
  const since = timesFor(visit.language, user.timeZone).moment(session.createdAt);
  const apps = new Intl.ListFormat(visit.language, { type: 'conjunction' });
  return html`<li><div>
<p class="name">${texts.sessionSince(since)}${session.isCurrent && html` <span class="badge">${texts.thisSession}</span>`}</p>
<p class="hint">${dotted([
    placeInWords(visit, session.place) ?? false,
    !session.isCurrent && html`${texts.lastUsed} ${ago(visit, user, session.lastActiveAt)}`,
    session.isRemembered && texts.remembered,
  ])}</p>
${session.applications.length > 0 && html`<p class="hint">${texts.apps(apps.format(session.applications))}</p>`}
</div>${
    !session.isCurrent &&
    buttonForm(
      visit,
      { action: 'end', session: session.id },
      { label: texts.end, about: texts.endOf(since), className: 'plain small' },
    )
  }</li>`;
};

/** The action that signs out or removes the device; none for the current device. */
const endOf = (visit: Visit, { entry }: DeviceData): Content => {
  const { devices: texts } = visit.texts.account;
  if (entry.isCurrent) return false;
  const isSignedIn = entry.sessions.length > 0;
  return html`<h2>${isSignedIn ? texts.endTitle : texts.removeTitle}</h2>
<p class="hint">${isSignedIn ? texts.endLead : texts.removeLead}</p>
${buttonForm(
  visit,
  { action: 'revoke' },
  { label: isSignedIn ? texts.signOut : texts.remove, className: 'danger small' },
)}`;
};

/** The page of one device: name, sessions, trust and removal. */
export const devicePage = ({ devices, openSessions }: Dependencies): AnyPage =>
  accountPage({
    section: 'devices',
    path: `${sections.devices}/{id}`,
    async open(visit, user): Promise<DeviceData> {
      const [known, open] = await Promise.all([devices.list(user), openSessions.list(user)]);
      const id = String(visit.req.params.id);
      const entry = deviceEntries(known, open).find(({ device }) => device?.id === id);
      if (!entry?.device) throw notFound('The device');
      return { user, entry, device: entry.device };
    },
    view(visit, opened, form) {
      const { devices: texts } = visit.texts.account;
      const { device, entry } = opened;
      return {
        title: entryName(visit, entry),
        lead: html`<a href="${sections.devices}">${texts.all}</a>`,
        body: [
          message(visit, form),
          factsOf(visit, opened),
          device.isTrusted &&
            buttonForm(
              visit,
              { action: 'distrust' },
              { label: texts.distrust, className: 'plain small' },
            ),
          entry.sessions.length > 1 && [
            html`<h2>${texts.sessions}</h2>`,
            html`<ul class="items">${entry.sessions.map((one) => sessionItem(visit, opened, one))}</ul>`,
          ],
          endOf(visit, opened),
          // The notice is already shown above.
          formOf(
            { ...visit, query: {} },
            { ...form, alert: undefined },
            {
              submit: texts.rename,
              isPlain: true,
              decision: ['action', 'rename'],
              content: fields(visit, form, [
                {
                  name: 'device_name',
                  isOptional: true,
                  autocomplete: 'off',
                  maxlength: 100,
                  value: entryName(visit, entry),
                  hint: texts.nameHint,
                },
              ]),
            },
          ),
        ],
      };
    },
    form: {
      fields: {
        action: oneOf('rename', 'distrust', 'end', 'revoke'),
        device_name: optional(rawText(1000, 0)),
        session: optional(uuid()),
      },
      async submit(visit, { action, device_name = '', session }, { user, device, entry }) {
        const { origin } = visit;
        const here = `${sections.devices}/${device.id}`;
        switch (action) {
          case 'rename': {
            const name = device_name.trim();
            if (name.length > 100) throw validationFailed({ device_name: ['it is too long'] });
            const detected = entryName(visit, {
              ...entry,
              device: { ...device, customName: null },
            });
            const isOwn = name !== '' && name !== detected;
            await devices.rename(user, device.id, isOwn ? name : null, origin);
            return `${here}?notice=device_renamed`;
          }
          case 'distrust':
            await devices.distrust(user, device.id, origin);
            return `${here}?notice=device_untrusted`;
          case 'end':
            if (!entry.sessions.some(({ id }) => id === session)) throw notFound('The session');
            await openSessions.end(user, session ?? '', origin);
            return `${here}?notice=session_ended`;
          case 'revoke':
            await devices.revoke(user, device.id, origin);
            return `${sections.devices}?notice=${entry.sessions.length > 0 ? 'device_signed_out' : 'device_removed'}`;
        }
      },
    },
  });
