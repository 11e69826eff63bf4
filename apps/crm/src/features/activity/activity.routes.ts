import type { Exports, RouteTable } from '@tessera/http-kit';
import { recordRoutes } from '../../records/routes.ts';
import { type ActivityLog, activity } from './activity.kind.ts';

/** The routes of the activity log, which is read only. */
export const activityRoutes = (log: ActivityLog, exports: Exports): RouteTable => {
  const routes = recordRoutes(activity, log);
  return {
    listActivity: routes.list({
      summary: 'List the activity log',
      description:
        'Who published, unpublished, scheduled or archived which record, and through whom: `impersonator_id` is the administrator who acted as the user.',
    }),
    exportActivity: routes.export({ permission: 'activity.export', exports }),
  };
};
