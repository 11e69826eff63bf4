import type { ListedDevice } from '../../features/devices/devices.service.ts';
import type { PendingChange } from '../../features/email-change/email-change.service.ts';
import type { Security } from '../../features/profile/profile.service.ts';
import { LOW_CODES } from '../../features/two-factor/two-factor.schema.ts';
import { type Html, html } from '../../http/html.ts';
import type { Visit } from '../visit.ts';
import { entryName } from './device-entries.ts';
import { notMePath } from './not-me.pages.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

/** How long a device counts as new, in milliseconds. */
const NEW_FOR = 7 * 86_400_000;
/** Maximum number of new devices on the overview; the devices page lists all. */
const MAX_NEW_DEVICES = 3;

/** The account data shown on the overview. */
export interface AccountState {
  readonly security: Security;
  readonly devices: readonly ListedDevice[];
  readonly pendingEmail: PendingChange | null;
}

/** New devices other than the current one. */
const newDevices = (devices: readonly ListedDevice[]): ListedDevice[] =>
  devices
    .filter(({ isCurrent, createdAt }) => !isCurrent && Date.now() - +createdAt < NEW_FOR)
    .toSorted((a, b) => +b.createdAt - +a.createdAt)
    .slice(0, MAX_NEW_DEVICES);

const item = (address: string, text: string, more?: Html): Html =>
  html`<li><a href="${address}">${text}</a>${more}</li>`;

/** Warnings and pending actions, most urgent first. */
export const attentionItems = (visit: Visit, state: AccountState): Html[] => {
  const { overview: texts, activity } = visit.texts.account;
  const { security, devices, pendingEmail } = state;
  const { ago } = timesFor(visit.language, visit.user?.timeZone ?? 'UTC');
  const signIns = newDevices(devices).map((device) => {
    const text = texts.newDevice(entryName(visit, { device, sessions: [] }), ago(device.createdAt));
    const notMe = html` <a class="quiet" href="${notMePath}">${activity.notMe}</a>`;
    return item(sections.devices, text, notMe);
  });
  const { twoFactorEnabled, recoveryCodesLeft } = security;
  const areFew = twoFactorEnabled && recoveryCodesLeft <= LOW_CODES;
  return [
    ...signIns,
    ...(areFew ? [item(sections.twoFactor, texts.fewCodes(recoveryCodesLeft))] : []),
    ...(pendingEmail ? [item(sections.profile, texts.pendingEmail(pendingEmail.email))] : []),
  ];
};

/** Suggestions to secure the account. */
export const suggestions = (visit: Visit, { security }: AccountState): Html[] => {
  const { overview: texts } = visit.texts.account;
  return [
    ...(security.twoFactorEnabled ? [] : [item(sections.twoFactor, texts.twoFactorOff)]),
    ...(security.pinEnabled ? [] : [item(sections.pin, texts.pinOff)]),
  ];
};
