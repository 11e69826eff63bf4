import { randomBytes } from 'node:crypto';

/** Number of recovery codes issued at once. */
const CODE_COUNT = 8;
/** Enough entropy to resist guessing even with a fast hash. */
const RANDOM_BYTES = 10;

/** New recovery codes in readable groups: `1f0a9-44c2e-b7713-0d5ea`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: CODE_COUNT }, () => {
    const digits = randomBytes(RANDOM_BYTES).toString('hex');
    return digits.replace(/(.{5})(?=.)/g, '$1-');
  });

export type GivenCode =
  | { readonly kind: 'totp'; readonly digits: string }
  | { readonly kind: 'recovery'; readonly code: string };

/** Parses a typed code, ignoring spaces, dashes and case. */
export const parseCode = (typed: string): GivenCode => {
  const normalized = typed.replace(/[\s-]/g, '').toLowerCase();
  return /^\d{6}$/.test(normalized)
    ? { kind: 'totp', digits: normalized }
    : { kind: 'recovery', code: normalized };
};

/** The canonical form of a recovery code, independent of dashes. */
export const normalizedCode = (code: string): string => code.replaceAll('-', '');
