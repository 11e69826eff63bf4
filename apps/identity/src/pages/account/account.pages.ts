import type { Context } from '../../context.ts';
import type { AnyPage } from '../page.ts';
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
export const accountPages = (context: Context): Record<string, AnyPage> => ({
  ...overviewPages(context),
  ...activityPages(context),
  ...tenantPages(context),
  ...notMePages({ ...context, minLength: context.config.passwords.minLength }),
  ...devicesPages(context),
  ...appsPages(context),
  ...profilePages(context),
  ...emailPages(context),
  ...dataPages(context),
  ...deletionPages(context),
  ...securityPages(context),
});
