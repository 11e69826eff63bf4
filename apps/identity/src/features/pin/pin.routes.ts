import { bool, described, matching, named, oneOf, shape, verbatim } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access.ts';
import { done, route, success } from '../../http.ts';
import { originOf } from '../../origin.ts';
import { isOff, isOn, type PinService } from './pin.service.ts';

export const pin = described(
  matching(/^[0-9]{6}$/, '6 digits', 6),
  'Six digits, neither a run nor a single one repeated',
  '192837',
);

export const pinRoutes = (pins: PinService): RouteTable => ({
  showPinStatus: route({
    method: 'get',
    path: '/api/auth/pin/status',
    permission: 'authenticated',
    clients: 'any',
    admits: ['pin_required'],
    summary: 'Whether there is a PIN',
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
    description: 'Later sign-ins are locked until it is verified; this one is not.',
    body: named('NewPin', shape({ pin, pin_confirmation: verbatim(100) })),
    responses: { 200: done },
    problems: { 409: { description: 'There is a PIN already', refusal: isOn } },
    async handler({ caller, body, req, reply }) {
      const given = { pin: body.pin, confirmation: body.pin_confirmation };
      await pins.set(personOf(caller), given, originOf(req));
      return reply(200, { success: true, message: 'The PIN is set.' });
    },
  }),
  verifyPin: route({
    method: 'post',
    path: '/api/auth/pin/verify',
    permission: 'authenticated',
    clients: 'any',
    admits: ['pin_required', 'email_verification_required'],
    limit: 'pin',
    summary: 'Unlock the session with the PIN',
    body: shape({ pin }),
    responses: { 200: success(named('PinVerified', shape({ verified: oneOf(true) }))) },
    problems: { 409: { description: 'There is no PIN', refusal: isOff } },
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
    description: 'Ends the sessions that are still waiting for it.',
    body: shape({ password: verbatim(1000) }),
    responses: { 200: done },
    problems: { 409: { description: 'There is no PIN', refusal: isOff } },
    async handler({ caller, body, req, reply }) {
      await pins.disable(personOf(caller), body.password, originOf(req));
      return reply(200, { success: true, message: 'The PIN is removed.' });
    },
  }),
});
