import { named, shape } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { signInCookies } from '../sign-in/sign-in.cookies.ts';
import { presentSignedIn } from '../sign-in/sign-in.schema.ts';
import {
  code,
  Enrolment,
  LOW_CODES,
  Password,
  recoveryCodes,
  Status,
  Verification,
  Verified,
} from './two-factor.schema.ts';
import { alreadyEnabled, notEnabled, type TwoFactorService } from './two-factor.service.ts';

const codesLeftMessage = (left: number): string => {
  if (left === 0) return 'That was your last recovery code. Create new ones now.';
  const codes = left === 1 ? '1 recovery code is' : `${left} recovery codes are`;
  return `${codes} left.${left <= LOW_CODES ? ' Create new ones soon.' : ''}`;
};

const enabledProblem = {
  409: { description: 'Two-factor authentication is already enabled', error: alreadyEnabled },
};
const disabledProblem = {
  409: { description: 'Two-factor authentication is not enabled', error: notEnabled },
};

export const twoFactorRoutes = (
  twoFactor: TwoFactorService,
  config: { readonly isLocal: boolean },
): RouteTable => {
  const cookies = signInCookies(config);
  return {
    getTwoFactorStatus: route({
      method: 'get',
      path: '/api/auth/2fa/status',
      permission: 'authenticated',
      clients: 'first_party',
      summary: 'Get the status of two-factor authentication',
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
      summary: 'Set up two-factor authentication',
      description: 'Two-factor authentication is enabled when a first code is confirmed.',
      responses: { 200: success(Enrolment) },
      problems: enabledProblem,
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
      summary: 'Enable two-factor authentication with a first code',
      body: shape({ code }),
      responses: { 200: done },
      problems: enabledProblem,
      async handler({ caller, body, req, reply }) {
        await twoFactor.confirm(personOf(caller), body.code, originOf(req));
        return reply(200, { success: true, message: 'Two-factor authentication is enabled.' });
      },
    }),
    verifyTwoFactor: route({
      method: 'post',
      path: '/api/auth/2fa/verify',
      permission: 'authenticated',
      clients: 'any',
      allowRestrictions: ['two_factor_required', 'email_verification_required'],
      limit: 'twoFactor',
      summary: 'Verify the second factor',
      description:
        'Completes a sign-in that returned `requires_2fa`; the response then contains a token and sets the session cookie. Accepts a one-time password or a recovery code; each works once.',
      body: Verification,
      responses: { 200: success(Verified) },
      problems: disabledProblem,
      async handler({ caller, body, req, res, reply }) {
        const given = { code: body.code, trustDevice: body.trust_device };
        const client = cookies.clientOf(req);
        const { signedIn, codesLeft } = await twoFactor.verify(personOf(caller), given, client);
        if (signedIn) cookies.set(res, signedIn);
        return reply(200, {
          success: true,
          data: { verified: true, ...(signedIn && presentSignedIn(signedIn)) },
          ...(codesLeft !== null && { message: codesLeftMessage(codesLeft) }),
        });
      },
    }),
    disableTwoFactor: route({
      method: 'post',
      path: '/api/auth/2fa/disable',
      permission: 'authenticated',
      clients: 'first_party',
      limit: 'password',
      summary: 'Disable two-factor authentication',
      body: Password,
      responses: { 200: done },
      problems: disabledProblem,
      async handler({ caller, body, req, reply }) {
        await twoFactor.disable(personOf(caller), body.password, originOf(req));
        return reply(200, { success: true, message: 'Two-factor authentication is disabled.' });
      },
    }),
    replaceRecoveryCodes: route({
      method: 'post',
      path: '/api/auth/2fa/recovery-codes',
      permission: 'authenticated',
      clients: 'first_party',
      limit: 'password',
      summary: 'Replace the recovery codes',
      body: Password,
      responses: {
        200: success(named('RecoveryCodes', shape({ recovery_codes: recoveryCodes }))),
      },
      problems: disabledProblem,
      async handler({ caller, body, req, reply }) {
        const person = personOf(caller);
        const codes = await twoFactor.replaceCodes(person, body.password, originOf(req));
        return reply(200, { success: true, data: { recovery_codes: codes } });
      },
    }),
  };
};
