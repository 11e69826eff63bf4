import { bool, described, matching, named, oneOf, shape, verbatim } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { isOff, isOn, type PinService } from './pin.service.ts';

export const pin = described(
  matching(/^[0-9]{6}$/, '6 digits', 6),
  'Six digits, neither a run nor a single one repeated',
  '192837',
);

export const NewPin = named('NewPin', shape({ pin, pin_confirmation: verbatim(100) }));

export const ChangePin = named(
  'ChangePin',
  shape({ current_pin: pin, pin, pin_confirmation: verbatim(100) }),
);

export const PasswordOfPin = shape({ password: verbatim(1000) });

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
    body: NewPin,
    responses: { 200: done },
    problems: { 409: { description: 'There is a PIN already', refusal: isOn } },
    async handler({ caller, body, req, reply }) {
      const given = { pin: body.pin, confirmation: body.pin_confirmation };
      await pins.set(personOf(caller), given, originOf(req));
      return reply(200, { success: true, message: 'The PIN is set.' });
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
      'Wrong current PINs count together with those that are given to unlock a session: too many in a row lock the PIN.',
    body: ChangePin,
    responses: { 200: done },
    problems: { 409: { description: 'There is no PIN', refusal: isOff } },
    async handler({ caller, body, req, reply }) {
      const given = {
        current: body.current_pin,
        pin: body.pin,
        confirmation: body.pin_confirmation,
      };
      await pins.change(personOf(caller), given, originOf(req));
      return reply(200, { success: true, message: 'The PIN is changed.' });
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
    body: PasswordOfPin,
    responses: { 200: done },
    problems: { 409: { description: 'There is no PIN', refusal: isOff } },
    async handler({ caller, body, req, reply }) {
      await pins.disable(personOf(caller), body.password, originOf(req));
      return reply(200, { success: true, message: 'The PIN is removed.' });
    },
  }),
});
