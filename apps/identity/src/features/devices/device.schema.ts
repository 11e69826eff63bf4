import { bool, described, named, nullable, shape, text, time, uuid } from '@tessera/fields';
import type { Place } from '../../origin/places.ts';
import type { ListedDevice } from './devices.service.ts';

/** The location of an IP address, with English names and codes for clients to translate. */
export const placeFields = {
  country: described(nullable(text(2)), 'ISO 3166-1 alpha-2 code; null if unknown', 'HU'),
  city: described(nullable(text(200)), 'English name; null if unknown', 'Budapest'),
};

export const presentPlace = (place: Place | null) => ({
  country: place?.country ?? null,
  city: place?.cityNames.en?.slice(0, 200) || null,
});

export const Device = named(
  'Device',
  shape({
    id: uuid(),
    device_name: described(
      text(200),
      'The name set by the user, or else derived from the user agent',
    ),
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

/** A device name set by a user. */
export const deviceName = () => text(100);
