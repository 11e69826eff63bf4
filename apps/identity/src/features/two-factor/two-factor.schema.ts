import {
  bool,
  described,
  int,
  list,
  named,
  nullable,
  oneOf,
  optional,
  rawText,
  shape,
  text,
  time,
  withDefault,
} from '@tessera/fields';
import { signedIn } from '../sign-in/sign-in.schema.ts';

export const code = text(100);

export const recoveryCodes = list(text(50));

export const Password = named('PasswordConfirmation', shape({ password: rawText(1000) }));

export const Enrolment = named(
  'TwoFactorEnrolment',
  shape({
    qr_code: described(text(100_000), 'QR code for an authenticator app (PNG as a data URI)'),
    secret: described(text(100), 'The secret in base32 for manual entry'),
    recovery_codes: described(
      recoveryCodes,
      'Each can be used once instead of a one-time password; shown only here',
    ),
  }),
);

export const Verification = shape({
  code,
  trust_device: described(
    withDefault(bool(), false),
    'Skip the second factor on this device for a while',
  ),
});

export const Verified = named(
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

export const Status = named(
  'TwoFactorStatus',
  shape({
    enabled: bool(),
    enabled_at: nullable(time()),
    recovery_codes_left: described(int(0, 100), 'Number of unused recovery codes'),
  }),
);

/** Number of remaining recovery codes at which users are advised to create new ones. */
export const LOW_CODES = 3;
