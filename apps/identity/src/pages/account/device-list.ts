import { type Content, type Html, html } from '../../http/html.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Visit } from '../visit.ts';
import { appsOf, type DeviceEntry, entryName, entryPlace } from './device-entries.ts';
import { placeInWords } from './place.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

/** Joins the non-empty parts with dots. */
export const dotted = (parts: readonly Content[]): Content[] => {
  const known = parts.filter((part) => part !== false && part !== undefined && part !== '');
  return known.flatMap((part, index) => (index === 0 ? [part] : [' · ', part]));
};

/** A relative time with the exact time as a tooltip. */
export const ago = ({ language }: Visit, { timeZone }: UserCaller, at: Date): Html => {
  const times = timesFor(language, timeZone);
  return html`<time datetime="${at.toISOString()}" title="${times.moment(at)}">${times.ago(at)}</time>`;
};

/** A form that consists of one button. */
export const buttonForm = (
  visit: Visit,
  values: Readonly<Record<string, string>>,
  { label, about, className }: { label: string; about?: string; className: string },
): Html => html`<form method="post">
<input type="hidden" name="form_token" value="${visit.formToken}">
${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button type="submit" class="${className}">${label}${about !== undefined && html`<span class="unseen"> ${about}</span>`}</button>
</form>`;

const badges = (visit: Visit, { device, isCurrent }: DeviceEntry): Content => {
  const { devices: texts } = visit.texts.account;
  return [
    isCurrent && html` <span class="badge">${texts.thisDevice}</span>`,
    device?.isTrusted && html` <span class="badge neutral">${texts.trusted}</span>`,
  ];
};

const ending = (visit: Visit, entry: DeviceEntry, name: string): Content => {
  const { devices: texts } = visit.texts.account;
  const { device, sessions, isCurrent } = entry;
  if (isCurrent) return false;
  const values = device ? { device: device.id } : { session: sessions[0]?.id ?? '' };
  const label = sessions.length > 0 ? texts.signOut : texts.remove;
  return buttonForm(visit, values, { label, about: name, className: 'plain small' });
};

const item = (visit: Visit, user: UserCaller, entry: DeviceEntry): Html => {
  const { devices: texts } = visit.texts.account;
  const { device, isCurrent, lastUsedAt } = entry;
  const name = entryName(visit, entry);
  const apps = appsOf(entry);
  const list = new Intl.ListFormat(visit.language, { type: 'conjunction' });
  return html`<li><div>
<p class="name">${device ? html`<a href="${sections.devices}/${device.id}">${name}</a>` : name}${badges(visit, entry)}</p>
<p class="hint">${dotted([
    placeInWords(visit, entryPlace(entry)) ?? false,
    isCurrent ? texts.activeNow : html`${texts.lastUsed} ${ago(visit, user, lastUsedAt)}`,
    device === null && (entry.sessions[0]?.ipAddress ?? false),
  ])}</p>
${apps.length > 0 && html`<p class="hint">${texts.apps(list.format(apps))}</p>`}
</div>${ending(visit, entry, name)}</li>`;
};

/** The list of devices and sessions with their actions. */
export const deviceList = (visit: Visit, user: UserCaller, entries: readonly DeviceEntry[]): Html =>
  html`<ul class="items">${entries.map((entry) => item(visit, user, entry))}</ul>`;
