import { bool, described, named, nullable, shape, text, time, uuid } from '@tessera/fields';
import type { Place } from '../../origin/places.ts';
import type { ListedDevice } from './devices.service.ts';

/** Where an address is, in English and by code: programs translate it for their readers. */
export const placeFields = {
  country: described(nullable(text(2)), 'ISO 3166-1 alpha-2; null where it is not known', 'HU'),
  city: described(nullable(text(200)), 'In English; null where it is not known', 'Budapest'),
};

export const presentPlace = (place: Place | null) => ({
  country: place?.country ?? null,
  city: place?.cityNames.en?.slice(0, 200) || null,
});

export const Device = named(
  'Device',
  shape({
    id: uuid(),
    device_name: described(text(200), 'What its user calls it, or else what its user agent tells'),
    device_type: text(50),
    browser: text(100),
    os: text(100),
    ip_address: nullable(text(100)),
    ...placeFields,
    is_trusted: bool(),
    is_current: bool(),
    last_used_at: time(),
  }),
);

export const presentDevice = (device: ListedDevice) => ({
  id: device.id,
  device_name: device.customName ?? device.name,
  device_type: device.type,
  browser: device.browser,
  os: device.os,
  ip_address: device.ipAddress,
  ...presentPlace(device.place),
  is_trusted: device.isTrusted,
  is_current: device.isCurrent,
  last_used_at: device.lastUsedAt,
});

/** What people may call a device. */
export const deviceName = () => text(100);
