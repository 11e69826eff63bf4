import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { recordRoutes } from '../../records/routes.ts';
import {
  trashedCommunicationLog,
  trashedCompany,
  trashedContact,
  trashedLeaveRequest,
  trashedProject,
  trashedTask,
  trashedTimeEntry,
} from './trash.kind.ts';

const DESCRIPTION =
  'The deleted records that the caller would see otherwise. They can be restored at any time: they are not deleted for good by themselves.';

/** The lists of what was deleted and can be restored, by resource. They come before the routes of one record. */
export const trashRoutes = (database: Database) => {
  const list = <T extends KindTypes>(kind: Kind<T>, text = DESCRIPTION): RouteEntry =>
    recordRoutes(kind, createRecords(kind, database)).list({
      summary: `List the trash of ${kind.table.replaceAll('_', ' ')}`,
      description: text,
    });
  return {
    contacts: {
      listContactTrash: list(
        trashedContact,
        `${DESCRIPTION} Contacts that are merged into others are not listed.`,
      ),
    },
    companies: { listCompanyTrash: list(trashedCompany) },
    communicationLogs: { listCommunicationLogTrash: list(trashedCommunicationLog) },
    projects: { listProjectTrash: list(trashedProject) },
    tasks: { listTaskTrash: list(trashedTask) },
    timeEntries: { listTimeEntryTrash: list(trashedTimeEntry) },
    leaveRequests: { listLeaveRequestTrash: list(trashedLeaveRequest) },
  } satisfies Readonly<Record<string, RouteTable>>;
};

export type TrashRoutes = ReturnType<typeof trashRoutes>;
