import { actionOf } from '../../actions.ts';
import type { ActivityEntry } from '../../generated/prisma/client.ts';
import { deviceName } from '../../mail/texts/format.ts';
import { describeDevice } from '../../user-agent.ts';
import type { Visit } from '../visit.ts';

/** What happened, in the words of the reader's language. */
export const whatHappened = ({ texts }: Visit, { action }: ActivityEntry): string => {
  const known = actionOf(action);
  return known ? texts.account.actions[known.name] : texts.account.activity.other;
};

/** Where it happened, as far as the person whose log it is may know: an administrator who acted is not told. */
export const whereItHappened = ({ texts, user }: Visit, entry: ActivityEntry): string[] => {
  const { activity } = texts.account;
  if (entry.impersonatorId !== null) return [activity.operator];
  const { ipAddress, userAgent } = entry;
  const device = userAgent && deviceName(describeDevice(userAgent), activity.device, '');
  const isInTenant = actionOf(entry.action)?.kind === 'organization';
  const tenant = isInTenant && user?.tenants.find(({ id }) => id === entry.tenantId)?.name;
  return [
    tenant && activity.inTenant(tenant),
    device,
    ipAddress !== null && activity.address(ipAddress),
  ].filter((part): part is string => typeof part === 'string' && part !== '');
};

/** Whether somebody else may have done it, in the name of the person whose log it is. */
export const isDisputable = ({ action, impersonatorId }: ActivityEntry): boolean =>
  impersonatorId === null && actionOf(action)?.isDisputable === true;
