import type { AnyPage } from '../page.ts';
import type { PageServices } from '../page-services.ts';
import type { PermissionLines } from '../permission-lines.ts';
import { activityPages } from './activity.pages.ts';
import { appsPages } from './apps.pages.ts';
import { dataPages } from './data.pages.ts';
import { deletionPages } from './deletion.pages.ts';
import { devicesPages } from './devices.pages.ts';
import { emailPages } from './email.pages.ts';
import { notMePages } from './not-me.pages.ts';
import { overviewPages } from './overview.pages.ts';
import { profilePages } from './profile.pages.ts';
import { securityPages } from './security.pages.ts';
import { tenantPages } from './tenants.pages.ts';

/** All pages below `/account`. */
export const accountPages = (
  services: PageServices & { readonly permissionLines: PermissionLines },
): Record<string, AnyPage> => ({
  ...overviewPages(services),
  ...activityPages(services),
  ...tenantPages(services),
  ...notMePages({ ...services, minLength: services.config.passwords.minLength }),
  ...devicesPages(services),
  ...appsPages(services),
  ...profilePages(services),
  ...emailPages(services),
  ...dataPages(services),
  ...deletionPages(services),
  ...securityPages(services),
});
