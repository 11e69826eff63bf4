import type { Database } from '../../database.ts';
import type { TypesOf } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { type ReferredRecords, referredRecords } from '../../records/referred-records.ts';
import { project } from './projects.kind.ts';

export type ReferredProjects = ReferredRecords<TypesOf<typeof project>>;

/** Tasks and time entries are parts of their project: those of a deleted one are not shown. */
const referring = [
  { table: 'tasks', column: 'project_id', permission: 'tasks.delete' },
  { table: 'time_entries', column: 'project_id', permission: 'time_entries.delete' },
] as const;

export const createProjects = (
  database: Pick<Database, 'forTenant' | 'transaction'>,
): ReferredProjects =>
  referredRecords(project, createRecords(project, database), database, referring);
