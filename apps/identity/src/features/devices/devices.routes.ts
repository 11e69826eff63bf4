import { bool, list, named, nullable, shape, text, time, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access.ts';
import { done, route, success } from '../../http.ts';
import { originOf } from '../../origin.ts';
import type { DevicesService, ListedDevice } from './devices.service.ts';

const Device = named(
  'Device',
  shape({
    id: uuid(),
    device_name: text(200),
    device_type: text(50),
    browser: text(100),
    os: text(100),
    ip_address: nullable(text(100)),
    is_trusted: bool(),
    is_current: bool(),
    last_used_at: time(),
  }),
);

const present = (device: ListedDevice) => ({
  id: device.id,
  device_name: device.name,
  device_type: device.type,
  browser: device.browser,
  os: device.os,
  ip_address: device.ipAddress,
  is_trusted: device.isTrusted,
  is_current: device.isCurrent,
  last_used_at: device.lastUsedAt,
});

export const deviceRoutes = (devices: DevicesService): RouteTable => ({
  listDevices: route({
    method: 'get',
    path: '/api/devices',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Where one signed in from',
    description: 'The last used first. A trusted device skips the second factor.',
    responses: { 200: success(list(Device, { max: 200 })) },
    async handler({ caller, reply }) {
      const listed = await devices.list(personOf(caller));
      return reply(200, { success: true, data: listed.map(present) });
    },
  }),
  revokeDevice: route({
    method: 'post',
    path: '/api/devices/{id}/revoke',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'device',
    summary: 'Forget a device and end its sessions',
    params: shape({ id: uuid() }),
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await devices.revoke(personOf(caller), params.id, originOf(req));
      return reply(200, { success: true, message: 'The device was removed.' });
    },
  }),
});
