import {
  bool,
  described,
  int,
  list,
  named,
  nullable,
  oneOf,
  optional,
  shape,
  text,
  time,
  verbatim,
  withDefault,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { signInCookies } from '../sign-in/sign-in.cookies.ts';
import { presentSignedIn, signedIn } from '../sign-in/sign-in.schema.ts';
import { isOff, isOn, type TwoFactorService } from './two-factor.service.ts';

export const code = text(100);
const recoveryCodes = list(text(50));
export const Password = named('PasswordConfirmation', shape({ password: verbatim(1000) }));

const Enrolment = named(
  'TwoFactorEnrolment',
  shape({
    qr_code: described(text(100_000), 'A PNG as a data URI, for an authenticator app'),
    secret: described(text(100), 'The same to be typed, in base32'),
    recovery_codes: described(recoveryCodes, 'Each stands in for a code once; told only here'),
  }),
);

export const Verification = shape({
  code,
  trust_device: described(
    withDefault(bool(), false),
    'Do not ask for the second factor on this device for a while',
  ),
});

const Verified = named(
  'TwoFactorVerified',
  shape({
    verified: oneOf(true),
    token: optional(signedIn.token),
    expires_in: optional(signedIn.expires_in),
    refresh_expires_in: optional(signedIn.refresh_expires_in),
    user: optional(signedIn.user),
    requires_pin: optional(signedIn.requires_pin),
  }),
);

const Status = named(
  'TwoFactorStatus',
  shape({
    enabled: bool(),
    enabled_at: nullable(time()),
    recovery_codes_left: described(int(0, 100), 'That were not used yet'),
  }),
);

/** From here on new recovery codes should be made. */
export const RUNNING_LOW = 3;

const tellCodesLeft = (left: number): string => {
  if (left === 0) return 'That was your last recovery code. Make new ones now.';
  const codes = left === 1 ? '1 recovery code is' : `${left} recovery codes are`;
  return `${codes} left.${left <= RUNNING_LOW ? ' Make new ones soon.' : ''}`;
};

const on = { 409: { description: 'The second factor is on already', refusal: isOn } };
const off = { 409: { description: 'The second factor is not on', refusal: isOff } };

export const twoFactorRoutes = (
  twoFactor: TwoFactorService,
  config: { readonly isLocal: boolean },
): RouteTable => {
  const cookies = signInCookies(config);
  return {
    showTwoFactorStatus: route({
      method: 'get',
      path: '/api/auth/2fa/status',
      permission: 'authenticated',
      clients: 'first_party',
      summary: 'Whether the second factor is on, and how many recovery codes are left',
      responses: { 200: success(Status) },
      async handler({ caller, reply }) {
        const { since, codesLeft } = await twoFactor.status(personOf(caller));
        const data = {
          enabled: since !== null,
          enabled_at: since,
          recovery_codes_left: codesLeft,
        };
        return reply(200, { success: true, data });
      },
    }),
    enableTwoFactor: route({
      method: 'post',
      path: '/api/auth/2fa/enable',
      permission: 'authenticated',
      clients: 'first_party',
      summary: 'Begin to set up the second factor',
      description: 'It is on once the first code is confirmed.',
      responses: { 200: success(Enrolment) },
      problems: on,
      async handler({ caller, reply }) {
        const { qrCode, secret, recoveryCodes } = await twoFactor.enable(personOf(caller));
        const data = { qr_code: qrCode, secret, recovery_codes: [...recoveryCodes] };
        return reply(200, { success: true, data });
      },
    }),
    confirmTwoFactor: route({
      method: 'post',
      path: '/api/auth/2fa/confirm',
      permission: 'authenticated',
      clients: 'first_party',
      summary: 'Turn the second factor on by a first code',
      body: shape({ code }),
      responses: { 200: done },
      problems: on,
      async handler({ caller, body, req, reply }) {
        await twoFactor.confirm(personOf(caller), body.code, originOf(req));
        return reply(200, { success: true, message: 'The second factor is on.' });
      },
    }),
    verifyTwoFactor: route({
      method: 'post',
      path: '/api/auth/2fa/verify',
      permission: 'authenticated',
      clients: 'any',
      admits: ['two_factor_required', 'email_verification_required'],
      limit: 'twoFactor',
      summary: 'Give the second factor',
      description:
        'Ends a sign-in that answered `requires_2fa`, and then gives a token and a cookie as that would have. Takes a one-time password or a recovery code; each works once.',
      body: Verification,
      responses: { 200: success(Verified) },
      problems: off,
      async handler({ caller, body, req, res, reply }) {
        const given = { code: body.code, trustDevice: body.trust_device };
        const client = cookies.clientOf(req);
        const { signedIn, codesLeft } = await twoFactor.verify(personOf(caller), given, client);
        if (signedIn) cookies.keep(res, signedIn);
        return reply(200, {
          success: true,
          data: { verified: true, ...(signedIn && presentSignedIn(signedIn)) },
          ...(codesLeft !== null && { message: tellCodesLeft(codesLeft) }),
        });
      },
    }),
    disableTwoFactor: route({
      method: 'post',
      path: '/api/auth/2fa/disable',
      permission: 'authenticated',
      clients: 'first_party',
      limit: 'password',
      summary: 'Turn the second factor off',
      body: Password,
      responses: { 200: done },
      problems: off,
      async handler({ caller, body, req, reply }) {
        await twoFactor.disable(personOf(caller), body.password, originOf(req));
        return reply(200, { success: true, message: 'The second factor is off.' });
      },
    }),
    replaceRecoveryCodes: route({
      method: 'post',
      path: '/api/auth/2fa/recovery-codes',
      permission: 'authenticated',
      clients: 'first_party',
      limit: 'password',
      summary: 'Make new recovery codes in the place of the old ones',
      body: Password,
      responses: {
        200: success(named('RecoveryCodes', shape({ recovery_codes: recoveryCodes }))),
      },
      problems: off,
      async handler({ caller, body, req, reply }) {
        const person = personOf(caller);
        const codes = await twoFactor.replaceCodes(person, body.password, originOf(req));
        return reply(200, { success: true, data: { recovery_codes: codes } });
      },
    }),
  };
};
