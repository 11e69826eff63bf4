import type { Exports, RouteTable } from '@tessera/http-kit';
import { recordRoutes } from '../../records/routes.ts';
import { type CommunicationLogs, communicationLog } from './communication-logs.kind.ts';

export const communicationLogRoutes = (logs: CommunicationLogs, exports: Exports): RouteTable => {
  const routes = recordRoutes(communicationLog, logs);
  return {
    listCommunicationLogs: routes.list(),
    exportCommunicationLogs: routes.export({ permission: 'communication_logs.export', exports }),
    createCommunicationLog: routes.create({
      description: 'The caller becomes the author.',
    }),
    getCommunicationLog: routes.get(),
    updateCommunicationLog: routes.update(),
    deleteCommunicationLog: routes.delete(),
    restoreCommunicationLog: routes.restore(),
    listCommunicationLogHistory: routes.history(),
  };
};
