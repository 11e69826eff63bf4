import type { Context } from '../../context.ts';
import type { AnyPage } from '../page.ts';
import { enrolmentPages } from './enrolment.pages.ts';
import { passwordPages } from './password.pages.ts';
import { pinPages } from './pin.pages.ts';
import { ShownCodes } from './shown-codes.ts';
import { twoFactorPages } from './two-factor.pages.ts';
import { twoFactorChangePages } from './two-factor-changes.pages.ts';

/** Pages for password, second factor and PIN. */
export const securityPages = (context: Context): Record<string, AnyPage> => {
  const { config, vault } = context;
  const shownCodes = new ShownCodes(config, vault);
  return {
    ...passwordPages({ ...context, minLength: config.passwords.minLength }),
    ...twoFactorPages({
      twoFactor: context.twoFactor,
      shownCodes,
      deviceTrust: config.lifetimes.deviceTrust,
    }),
    ...enrolmentPages({
      twoFactor: context.twoFactor,
      shownCodes,
      brandName: config.brandName,
    }),
    ...twoFactorChangePages({
      twoFactor: context.twoFactor,
      reauthentication: context.reauthentication,
      shownCodes,
    }),
    ...pinPages(context),
  };
};
