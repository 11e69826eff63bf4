import type { ListedDevice } from '../../features/devices/devices.service.ts';
import type { ListedSession } from '../../features/sessions/open-sessions.service.ts';
import { deviceName } from '../../mail/texts/format.ts';
import type { Place } from '../../origin/places.ts';
import { describeDevice } from '../../origin/user-agent.ts';
import type { Reader } from '../visit.ts';

/** A device with its sessions, or a session without a recorded device. */
export interface DeviceEntry {
  readonly device: ListedDevice | null;
  /** Most recently used first; empty if nobody is signed in on it. */
  readonly sessions: readonly ListedSession[];
  readonly isCurrent: boolean;
  readonly lastUsedAt: Date;
}

const latest = (times: readonly Date[]): Date => new Date(Math.max(...times.map(Number)));

/** The current device first, then the most recently used. */
export const deviceEntries = (
  devices: readonly ListedDevice[],
  sessions: readonly ListedSession[],
): DeviceEntry[] => {
  const known = new Set(devices.map(({ id }) => id));
  const ofDevices = devices.map((device) => {
    const own = sessions.filter(({ deviceId }) => deviceId === device.id);
    return {
      device,
      sessions: own,
      isCurrent: device.isCurrent,
      lastUsedAt: latest([device.lastUsedAt, ...own.map(({ lastActiveAt }) => lastActiveAt)]),
    };
  });
  const others = sessions
    .filter(({ deviceId }) => deviceId === null || !known.has(deviceId))
    .map((session) => ({
      device: null,
      sessions: [session],
      isCurrent: session.isCurrent,
      lastUsedAt: session.lastActiveAt,
    }));
  return [...ofDevices, ...others].toSorted(
    (a, b) => Number(b.isCurrent) - Number(a.isCurrent) || +b.lastUsedAt - +a.lastUsedAt,
  );
};

/** The display name: set by the user, or else derived from the user agent. */
export const entryName = (
  { texts }: Pick<Reader, 'texts'>,
  { device, sessions }: Pick<DeviceEntry, 'device' | 'sessions'>,
): string => {
  if (device?.customName) return device.customName;
  const { named, unknownDevice } = texts.account.devices;
  const described = device ?? describeDevice(sessions[0]?.userAgent ?? null);
  return deviceName(described, named, unknownDevice);
};

/** The last known location; null if unknown. */
export const entryPlace = ({ device, sessions }: DeviceEntry): Place | null =>
  device?.place ?? sessions[0]?.place ?? null;

/** Names of the applications signed in on the device. */
export const appsOf = ({ sessions }: Pick<DeviceEntry, 'sessions'>): string[] => [
  ...new Set(sessions.flatMap(({ applications }) => applications)),
];
