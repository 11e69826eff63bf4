import { bool, described, int, matching, type OutOf, withDefault } from '@tessera/fields';
import { days, seconds } from './fields.ts';

/** Passwords, second factors, PINs and registration. */
export const credentialVariables = {
  REGISTRATION_ENABLED: described(
    withDefault(bool(), false),
    'Whether anyone can register, with a new tenant of their own.',
  ),
  BCRYPT_COST: described(
    withDefault(int(4, 20), 12),
    'bcrypt cost; each increment doubles the work.',
  ),
  HASH_QUEUE_LIMIT: described(
    withDefault(int(0, 10_000), 32),
    'Maximum number of password checks that wait for a CPU core: of sign-ins, of signed-in people, and of others, such as registrations, each. One client address, or one signed-in account, can have half of them. Further ones get 503.',
  ),
  PASSWORD_MIN_LENGTH: described(
    withDefault(int(8, 64), 12),
    'Minimum length of a new password, in characters.',
  ),
  PASSWORD_HISTORY: described(
    withDefault(int(1, 24), 5),
    'Number of recent passwords, including the current one, that cannot be reused.',
  ),
  TWO_FACTOR_ISSUER: described(
    withDefault(matching(/^[^:\r\n]+$/, 'a name without a colon', 100), 'Tessera'),
    'The name that authenticator apps show for accounts.',
  ),
  LOCKOUT_ATTEMPTS: described(
    withDefault(int(1, 100), 5),
    'Consecutive wrong codes or PINs after which the second factor or the PIN is locked.',
  ),
  LOCKOUT_SECONDS: described(
    withDefault(seconds(days(1)), 60),
    'Duration of the first lock, in seconds; it doubles with each further failure, up to a day.',
  ),
} as const;

export const credentialSettings = (
  read: OutOf<typeof credentialVariables>,
  { brandName, workers }: { readonly brandName: string; readonly workers: number },
) => ({
  registrationEnabled: read.REGISTRATION_ENABLED,
  passwords: {
    cost: read.BCRYPT_COST,
    queueLimit: read.HASH_QUEUE_LIMIT,
    minLength: read.PASSWORD_MIN_LENGTH,
    brandName,
    workers,
  },
  passwordHistory: read.PASSWORD_HISTORY,
  twoFactorIssuer: read.TWO_FACTOR_ISSUER,
  lockout: { attempts: read.LOCKOUT_ATTEMPTS, firstLock: read.LOCKOUT_SECONDS },
});
