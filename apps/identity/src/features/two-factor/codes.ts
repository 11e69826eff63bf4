import { randomBytes } from 'node:crypto';

/** Recovery codes that a user is given. */
const ISSUED = 8;
/** Too many to be guessed, even from a hash that is fast. */
const RANDOM_BYTES = 10;

/** Fresh recovery codes, in groups that a person can copy: `1f0a9-44c2e-b7713-0d5ea`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: ISSUED }, () => {
    const digits = randomBytes(RANDOM_BYTES).toString('hex');
    return digits.replace(/(.{5})(?=.)/g, '$1-');
  });

export type GivenCode =
  | { readonly kind: 'totp'; readonly digits: string }
  | { readonly kind: 'recovery'; readonly code: string };

/** Reads a code as a person types it: with blanks and dashes or without, in capitals or not. */
export const readCode = (typed: string): GivenCode => {
  const bare = typed.replace(/[\s-]/g, '').toLowerCase();
  return /^\d{6}$/.test(bare) ? { kind: 'totp', digits: bare } : { kind: 'recovery', code: bare };
};

/** What a recovery code is recognised by, however it is typed. */
export const bareCode = (code: string): string => code.replaceAll('-', '');
