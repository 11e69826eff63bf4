import { described, named, nullable, shape, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, onlyPage, page, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { Device, deviceName, presentDevice } from './device.schema.ts';
import type { DevicesService } from './devices.service.ts';

export const deviceRoutes = (devices: DevicesService): RouteTable => ({
  listDevices: route({
    method: 'get',
    path: '/api/devices',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'List the devices you signed in from',
    description:
      'All on one page, most recently used first. A trusted device skips the second factor.',
    responses: { 200: page(Device, { max: 200 }) },
    async handler({ caller, reply }) {
      const listed = await devices.list(personOf(caller));
      return reply(200, onlyPage(listed.map(presentDevice)));
    },
  }),
  revokeDevice: route({
    method: 'post',
    path: '/api/devices/{id}/revoke',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'device',
    summary: 'Remove a device and end its sessions',
    params: shape({ id: uuid() }),
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await devices.revoke(personOf(caller), params.id, originOf(req));
      return reply(200, { success: true, message: 'The device was removed.' });
    },
  }),
  updateDevice: route({
    method: 'put',
    path: '/api/devices/{id}',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'device',
    summary: 'Rename a device',
    params: shape({ id: uuid() }),
    body: named(
      'DeviceInput',
      shape({
        device_name: described(
          nullable(deviceName()),
          'Null restores the name derived from the user agent',
          'Laptop in the kitchen',
        ),
      }),
    ),
    responses: { 200: success(Device) },
    async handler({ body, caller, params, req, reply }) {
      const { device_name } = body;
      const device = await devices.rename(personOf(caller), params.id, device_name, originOf(req));
      return reply(200, { success: true, data: presentDevice(device) });
    },
  }),
  deleteDeviceTrust: route({
    method: 'delete',
    path: '/api/devices/{id}/trust',
    permission: 'authenticated',
    clients: 'first_party',
    resource: 'device',
    summary: 'Revoke trust in a device',
    description:
      'The device needs the second factor again; its sessions continue. No effect if the device is not trusted.',
    params: shape({ id: uuid() }),
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await devices.distrust(personOf(caller), params.id, originOf(req));
      return reply(200, { success: true, message: 'The device is no longer trusted.' });
    },
  }),
});
