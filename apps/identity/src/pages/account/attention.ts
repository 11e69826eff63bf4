import type { ListedDevice } from '../../features/devices/devices.service.ts';
import type { PendingChange } from '../../features/email-change/email-change.repository.ts';
import type { Security } from '../../features/profile/profile.repository.ts';
import { LOW_CODES } from '../../features/two-factor/two-factor.routes.ts';
import { type Html, html } from '../../http/html.ts';
import type { Visit } from '../visit.ts';
import { entryName } from './device-entries.ts';
import { notMePath } from './not-me.pages.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

/** Milliseconds for which a device is new. */
const NEW_FOR = 7 * 86_400_000;
/** Most new devices that the overview names; all of them are on the page of devices. */
const MOST_NAMED = 3;

/** What the overview knows of an account. */
export interface AccountState {
  readonly security: Security;
  readonly devices: readonly ListedDevice[];
  readonly pendingEmail: PendingChange | null;
}

/** Devices that somebody else may use: the one at hand is the reader's. */
const newDevices = (devices: readonly ListedDevice[]): ListedDevice[] =>
  devices
    .filter(({ isCurrent, createdAt }) => !isCurrent && Date.now() - +createdAt < NEW_FOR)
    .toSorted((a, b) => +b.createdAt - +a.createdAt)
    .slice(0, MOST_NAMED);

const item = (address: string, text: string, more?: Html): Html =>
  html`<li><a href="${address}">${text}</a>${more}</li>`;

/** What may be wrong and what waits for the reader, the most urgent first. */
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

/** What would make the account safer. */
export const suggestions = (visit: Visit, { security }: AccountState): Html[] => {
  const { overview: texts } = visit.texts.account;
  return [
    ...(security.twoFactorEnabled ? [] : [item(sections.twoFactor, texts.twoFactorOff)]),
    ...(security.pinEnabled ? [] : [item(sections.pin, texts.pinOff)]),
  ];
};
