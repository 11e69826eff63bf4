import { Prisma } from '../../generated/prisma/client.ts';
import { trashOf } from '../../records/trash.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { leaveRequest } from '../leave-requests/leave-requests.kind.ts';
import { project } from '../projects/projects.kind.ts';
import { task } from '../tasks/tasks.kind.ts';
import { timeEntry } from '../time-entries/time-entries.kind.ts';

const { sql } = Prisma;

/** Without those that are merged into another one: undoing the merge brings them back. */
export const trashedContact = trashOf(
  contact,
  ({ tenantId }) => sql`NOT EXISTS (
    SELECT FROM tenant_crm.contact_merges
    WHERE contact_merges.tenant_id = ${tenantId}::uuid AND merged_id = contacts.id AND undone_at IS NULL
  )`,
);
export const trashedCompany = trashOf(company);
export const trashedCommunicationLog = trashOf(communicationLog);
export const trashedProject = trashOf(project);
export const trashedTask = trashOf(task);
export const trashedTimeEntry = trashOf(timeEntry);
export const trashedLeaveRequest = trashOf(leaveRequest);
