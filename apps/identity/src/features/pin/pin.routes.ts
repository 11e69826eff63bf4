import { bool, named, oneOf, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { ChangePin, NewPin, PasswordOfPin, pin } from './pin.schema.ts';
import { noPin, type PinService, pinExists } from './pin.service.ts';

export const pinRoutes = (pins: PinService): RouteTable => ({
  getPinStatus: route({
    method: 'get',
    path: '/api/auth/pin/status',
    permission: 'authenticated',
    clients: 'any',
    allowRestrictions: ['pin_required'],
    summary: 'Get whether a PIN is set',
    responses: { 200: success(named('PinStatus', shape({ enabled: bool() }))) },
    async handler({ caller, reply }) {
      const enabled = await pins.isEnabled(personOf(caller));
      return reply(200, { success: true, data: { enabled } });
    },
  }),
  setPin: route({
    method: 'post',
    path: '/api/auth/pin/set',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'password',
    summary: 'Set a PIN',
    description:
      'Sessions started later are locked until the PIN is verified; the current one is not.',
    body: NewPin,
    responses: { 200: done },
    problems: { 409: { description: 'A PIN is already set', error: pinExists } },
    async handler({ caller, body, req, reply }) {
      const given = { pin: body.pin, confirmation: body.pin_confirmation };
      await pins.set(personOf(caller), given, originOf(req));
      return reply(200, { success: true, message: 'The PIN has been set.' });
    },
  }),
  changePin: route({
    method: 'post',
    path: '/api/auth/pin/change',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'pin',
    summary: 'Change the PIN',
    description:
      'Wrong current PINs count together with wrong PINs of unlock attempts: too many in a row lock the PIN.',
    body: ChangePin,
    responses: { 200: done },
    problems: { 409: { description: 'No PIN is set', error: noPin } },
    async handler({ caller, body, req, reply }) {
      const given = {
        current: body.current_pin,
        pin: body.pin,
        confirmation: body.pin_confirmation,
      };
      await pins.change(personOf(caller), given, originOf(req));
      return reply(200, { success: true, message: 'The PIN has been changed.' });
    },
  }),
  verifyPin: route({
    method: 'post',
    path: '/api/auth/pin/verify',
    permission: 'authenticated',
    clients: 'any',
    allowRestrictions: ['pin_required', 'email_verification_required'],
    limit: 'pin',
    summary: 'Unlock the session with the PIN',
    body: shape({ pin }),
    responses: { 200: success(named('PinVerified', shape({ verified: oneOf(true) }))) },
    problems: { 409: { description: 'No PIN is set', error: noPin } },
    async handler({ caller, body, req, reply }) {
      await pins.verify(personOf(caller), body.pin, originOf(req));
      return reply(200, { success: true, data: { verified: true } });
    },
  }),
  disablePin: route({
    method: 'post',
    path: '/api/auth/pin/disable',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'password',
    summary: 'Remove the PIN',
    description: 'Ends the sessions that the PIN still locks.',
    body: PasswordOfPin,
    responses: { 200: done },
    problems: { 409: { description: 'No PIN is set', error: noPin } },
    async handler({ caller, body, req, reply }) {
      await pins.disable(personOf(caller), body.password, originOf(req));
      return reply(200, { success: true, message: 'The PIN has been removed.' });
    },
  }),
});
