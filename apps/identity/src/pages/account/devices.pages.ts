import { optional, uuid } from '@tessera/fields';
import { notFound } from '@tessera/http-kit';
import type { DevicesService } from '../../features/devices/devices.service.ts';
import type { OpenSessionsService } from '../../features/sessions/open-sessions.service.ts';
import type { SessionsService } from '../../features/sessions/sessions.service.ts';
import { signInCookies } from '../../features/sign-in/sign-in.cookies.ts';
import { html } from '../../http/html.ts';
import { formOf, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { accountPage } from './account-page.ts';
import { devicePage } from './device.page.ts';
import { deviceEntries, entryPlace } from './device-entries.ts';
import { deviceList } from './device-list.ts';
import { sections } from './sections.ts';

interface Dependencies {
  readonly devices: Pick<DevicesService, 'list' | 'revoke' | 'rename' | 'distrust'>;
  readonly openSessions: Pick<OpenSessionsService, 'list' | 'end' | 'endOthers'>;
  readonly sessions: Pick<SessionsService, 'logoutAll'>;
  readonly config: { readonly isLocal: boolean };
}

const SIGN_OUT_OTHERS = `${sections.devices}/sign-out-others`;
const SIGN_OUT_EVERYWHERE = `${sections.devices}/sign-out-everywhere`;

/** Pages that list devices and sessions and end them. */
export const devicesPages = (use: Dependencies): Record<string, AnyPage> => {
  const { devices, openSessions, sessions, config } = use;
  const cookies = signInCookies(config);

  const list = accountPage({
    section: 'devices',
    path: sections.devices,
    async open(_visit, user) {
      const [known, open] = await Promise.all([devices.list(user), openSessions.list(user)]);
      return { user, entries: deviceEntries(known, open) };
    },
    view(visit, { user, entries }, form) {
      const { devices: texts } = visit.texts.account;
      const isSignedIn = (entry: (typeof entries)[number]) => entry.sessions.length > 0;
      const signedIn = entries.filter(isSignedIn);
      const signedOut = entries.filter((entry) => !isSignedIn(entry));
      return {
        title: texts.title,
        lead: texts.lead,
        hasNoForm: true,
        body: [
          message(visit, form),
          deviceList(visit, user, signedIn),
          html`<p class="hint">${texts.unknownAdvice} <a href="${sections.password}">${texts.changePassword}</a>.</p>`,
          html`<p class="choices">${
            signedIn.length > 1 &&
            html`<a class="button plain small" href="${SIGN_OUT_OTHERS}">${texts.signOutOthers}</a> `
          }<a class="button danger small" href="${SIGN_OUT_EVERYWHERE}">${texts.signOutEverywhere}</a></p>`,
          signedOut.length > 0 && [
            html`<h2>${texts.signedOut}</h2><p class="hint">${texts.signedOutLead}</p>`,
            deviceList(visit, user, signedOut),
          ],
          entries.some((entry) => entryPlace(entry)?.country) &&
            html`<p class="hint">${texts.placeHint}</p>`,
        ],
      };
    },
    form: {
      fields: { device: optional(uuid()), session: optional(uuid()) },
      async submit({ origin }, { device, session }, { user, entries }) {
        if (device !== undefined) {
          const entry = entries.find((one) => one.device?.id === device);
          await devices.revoke(user, device, origin);
          const isSignedOut = (entry?.sessions.length ?? 0) > 0;
          return `${sections.devices}?notice=${isSignedOut ? 'device_signed_out' : 'device_removed'}`;
        }
        if (session === undefined) throw notFound('The device');
        await openSessions.end(user, session, origin);
        return `${sections.devices}?notice=session_ended`;
      },
    },
  });

  const signOutOthers = accountPage({
    section: 'devices',
    path: SIGN_OUT_OTHERS,
    limit: 'signOut',
    open: (_visit, user) => user,
    view(visit, _user, form) {
      const { devices: texts } = visit.texts.account;
      return {
        ...texts.signOutOthersPage,
        body: formOf(visit, form, {
          submit: texts.signOutOthers,
          beside: html`<a href="${sections.devices}">${texts.cancel}</a>`,
        }),
      };
    },
    form: {
      fields: {},
      async submit({ origin }, _nothing, user) {
        await openSessions.endOthers(user, origin);
        return `${sections.devices}?notice=signed_out_elsewhere`;
      },
    },
  });

  const signOutEverywhere = accountPage({
    section: 'devices',
    path: SIGN_OUT_EVERYWHERE,
    limit: 'signOut',
    open: (_visit, user) => user,
    view(visit, _user, form) {
      const { devices: texts } = visit.texts.account;
      return {
        ...texts.signOutEverywherePage,
        body: formOf(visit, form, {
          submit: texts.signOutEverywhere,
          beside: html`<a href="${sections.devices}">${texts.cancel}</a>`,
        }),
      };
    },
    form: {
      fields: {},
      async submit({ origin, res }, _nothing, user) {
        await sessions.logoutAll(user, origin);
        cookies.clearSession(res);
        return '/signed-out';
      },
    },
  });

  return {
    accountDevices: list,
    accountSignOutOthers: signOutOthers,
    accountSignOutEverywhere: signOutEverywhere,
    accountDevice: devicePage(use),
  };
};
