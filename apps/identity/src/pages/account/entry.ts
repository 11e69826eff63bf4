import { actionOf } from '../../activity/actions.ts';
import type { ActivityEntry } from '../../generated/prisma/client.ts';
import { deviceName } from '../../mail/texts/format.ts';
import type { Places } from '../../origin/places.ts';
import { describeDevice } from '../../origin/user-agent.ts';
import type { Visit } from '../visit.ts';
import { placeInWords } from './place.ts';

/** The action in the visitor's language. */
export const whatHappened = ({ texts }: Visit, { action }: ActivityEntry): string => {
  const known = actionOf(action);
  return known ? texts.account.actions[known.name] : texts.account.activity.other;
};

/** Where it happened. Hides the details of an administrator who acted as the user. */
export const whereItHappened = (
  visit: Visit,
  entry: ActivityEntry,
  places: Pick<Places, 'of'>,
): string[] => {
  const { texts, user } = visit;
  const { activity } = texts.account;
  if (entry.impersonatorId !== null) return [activity.operator];
  const { ipAddress, userAgent } = entry;
  const device = userAgent && deviceName(describeDevice(userAgent), activity.device, '');
  const isInTenant = actionOf(entry.action)?.kind === 'organization';
  const tenant = isInTenant && user?.tenants.find(({ id }) => id === entry.tenantId)?.name;
  const place = ipAddress === null ? null : placeInWords(visit, places.of(ipAddress));
  return [
    tenant && activity.inTenant(tenant),
    device,
    place,
    ipAddress !== null && activity.address(ipAddress),
  ].filter((part): part is string => typeof part === 'string' && part !== '');
};

/** Whether somebody else may have acted in the user's name. */
export const isDisputable = ({ action, impersonatorId }: ActivityEntry): boolean =>
  impersonatorId === null && actionOf(action)?.isDisputable === true;
