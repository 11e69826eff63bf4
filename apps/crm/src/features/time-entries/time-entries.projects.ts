import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { mayContribute, requireContributor } from '../projects/projects.roles.ts';
import { inVisibleProjects } from '../projects/projects.visibility.ts';

const { sql } = Prisma;

/** What rules of time entries can use. */
export interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

/** The part of an entry that rules read. */
interface EntryState {
  readonly user_id: string;
  readonly project_id: string | null;
  readonly task_id: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** The same with the entry before the change. */
export interface RowContext extends Context {
  readonly row: EntryState;
}

/** A task that an entry is about. */
interface EntryTask {
  readonly project_id: string | null;
  readonly is_project_deleted: boolean;
}

/** The task; undefined if the caller cannot see it, or if it is deleted. */
const findVisibleTask = async (
  caller: Caller,
  db: TenantDb,
  taskId: string,
): Promise<EntryTask | undefined> => {
  const { condition = sql`true` } = inVisibleProjects(caller, 'tasks');
  const [task] = await db.query<EntryTask>(sql`
    SELECT project_id, EXISTS (
      SELECT FROM tenant_crm.projects AS project
      WHERE project.tenant_id = ${db.tenantId}::uuid AND project.id = tasks.project_id
        AND project.deleted_at IS NOT NULL
    ) AS is_project_deleted
    FROM tenant_crm.tasks
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${taskId}::uuid AND deleted_at IS NULL
      AND (${condition})`);
  return task;
};

/**
 * The project of an entry: the given one, or else that of its task. Throws 422 if the caller cannot see the task,
 * or if it belongs to another project. An entry does not move to a deleted project; `former` is the one it is in.
 */
export const projectOf = async (
  { caller, db }: Context,
  taskId: string | null | undefined,
  given: string | null | undefined,
  former: string | null = null,
): Promise<string | null> => {
  if (taskId === undefined || taskId === null) return given ?? null;
  const task = await findVisibleTask(caller, db, taskId);
  if (!task) throw invalidField('task_id', 'task_id must be the id of an existing task');
  if (given !== undefined && given !== task.project_id) {
    throw invalidField('task_id', 'task_id must be the id of a task of the project');
  }
  // The foreign key would refuse the project, which the caller need not have given.
  if (task.is_project_deleted && task.project_id !== former) {
    throw invalidField(
      'task_id',
      'task_id must be the id of a task of an existing project: the project of this task is deleted',
    );
  }
  return task.project_id;
};

/** The project after a change. With another task, an entry moves to the project of the task. */
export const projectAfter = async (
  { task_id: taskId, project_id: given }: Partial<Pick<EntryState, 'task_id' | 'project_id'>>,
  { caller, db, row }: RowContext,
): Promise<string | null> => {
  const isSameTask = taskId === undefined || taskId === row.task_id;
  if (isSameTask && (given === undefined || given === row.project_id)) return row.project_id;
  if (taskId === null && given === undefined) return row.project_id;
  const projectId = await projectOf(
    { caller, db },
    taskId === undefined ? row.task_id : taskId,
    given,
    row.project_id,
  );
  if (projectId !== row.project_id) await requireContributor(caller, db, projectId);
  return projectId;
};

/**
 * The project of a timer that ends: that of its task, which may have moved meanwhile. It stays if the caller does not see
 * the task any more, or may not add an entry to its project: a timer can always be ended.
 */
export const projectAtEnd = async ({ caller, db, row }: RowContext): Promise<string | null> => {
  const task = row.task_id === null ? undefined : await findVisibleTask(caller, db, row.task_id);
  if (!task || task.project_id === row.project_id) return row.project_id;
  if (task.project_id === null) return null;
  return (await mayContribute(caller, db, task.project_id)) ? task.project_id : row.project_id;
};
