import { sections } from './sections.ts';

/** The pages of the second factor, beside that of its section. */
export const twoFactorAddresses = {
  setUp: `${sections.twoFactor}/set-up`,
  codes: `${sections.twoFactor}/recovery-codes`,
  replace: `${sections.twoFactor}/new-recovery-codes`,
  turnOff: `${sections.twoFactor}/turn-off`,
} as const;
