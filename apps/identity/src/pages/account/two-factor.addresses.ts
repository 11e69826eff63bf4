import { sections } from './sections.ts';

/** Paths of the two-factor pages besides the section itself. */
export const twoFactorAddresses = {
  setUp: `${sections.twoFactor}/set-up`,
  codes: `${sections.twoFactor}/recovery-codes`,
  replace: `${sections.twoFactor}/new-recovery-codes`,
  turnOff: `${sections.twoFactor}/turn-off`,
} as const;
