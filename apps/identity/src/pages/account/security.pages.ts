import type { AnyPage } from '../page.ts';
import type { PageServices } from '../page-services.ts';
import { enrolmentPages } from './enrolment.pages.ts';
import { passwordPages } from './password.pages.ts';
import { pinPages } from './pin.pages.ts';
import { ShownCodes } from './shown-codes.ts';
import { twoFactorPages } from './two-factor.pages.ts';
import { twoFactorChangePages } from './two-factor-changes.pages.ts';

/** Pages for password, second factor and PIN. */
export const securityPages = (services: PageServices): Record<string, AnyPage> => {
  const { config } = services;
  const shownCodes = new ShownCodes(services);
  return {
    ...passwordPages({ ...services, minLength: config.passwords.minLength }),
    ...twoFactorPages({
      twoFactor: services.twoFactor,
      shownCodes,
      deviceTrust: config.lifetimes.deviceTrust,
    }),
    ...enrolmentPages({
      twoFactor: services.twoFactor,
      shownCodes,
      brandName: config.brandName,
    }),
    ...twoFactorChangePages({
      twoFactor: services.twoFactor,
      reauthentication: services.reauthentication,
      shownCodes,
    }),
    ...pinPages(services),
  };
};
