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
}

/** The task; undefined if the caller cannot see it, or if it or its project is deleted. */
const findVisibleTask = async (
  caller: Caller,
  db: TenantDb,
  taskId: string,
): Promise<EntryTask | undefined> => {
  const { condition = sql`true` } = inVisibleProjects(caller, 'tasks');
  const [task] = await db.query<EntryTask>(sql`
    SELECT project_id
    FROM tenant_crm.tasks
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${taskId}::uuid AND deleted_at IS NULL
      AND (${condition})`);
  return task;
};

/**
 * The project of an entry: the given one, or else that of its task. Throws 422 if the caller cannot see the task,
 * or if it belongs to another project.
 */
export const projectOf = async (
  { caller, db }: Context,
  taskId: string | null | undefined,
  given: string | null | undefined,
): Promise<string | null> => {
  if (taskId === undefined || taskId === null) return given ?? null;
  const task = await findVisibleTask(caller, db, taskId);
  if (!task) throw invalidField('task_id', 'task_id must be the id of an existing task');
  if (given !== undefined && given !== task.project_id) {
    throw invalidField('task_id', 'task_id must be the id of a task of the project');
  }
  return task.project_id;
};

/** The project that a change gives an entry, and whether the entry loses its task. */
interface Placement {
  readonly project_id: string | null;
  readonly task_id?: null;
}

/**
 * What an entry is about if only its project changes. A task that is deleted or that the caller cannot see does not keep the
 * entry where it is, because the caller cannot choose another project for it.
 */
const inProject = async (
  projectId: string | null,
  { caller, db, row }: RowContext,
): Promise<Placement> => {
  const kept = { project_id: projectId };
  if (row.task_id === null) return kept;
  const task = await findVisibleTask(caller, db, row.task_id);
  if (!task) return { ...kept, task_id: null };
  if (task.project_id === projectId) return kept;
  throw invalidField(
    'task_id',
    "task_id must be given with project_id, as null or as a task of the project: the entry's task is in another one",
  );
};

/** What an entry is about after a change. With another task, it moves to the project of the task. */
export const placementAfter = async (
  { task_id: taskId, project_id: given }: Partial<Pick<EntryState, 'task_id' | 'project_id'>>,
  context: RowContext,
): Promise<Placement> => {
  const { caller, db, row } = context;
  const kept = { project_id: row.project_id };
  const isSameTask = taskId === undefined || taskId === row.task_id;
  if (isSameTask && (given === undefined || given === row.project_id)) return kept;
  if (taskId === null && given === undefined) return kept;
  const placement =
    taskId === undefined && given !== undefined
      ? await inProject(given, context)
      : { project_id: await projectOf({ caller, db }, taskId, given) };
  if (placement.project_id !== row.project_id) {
    await requireContributor(caller, db, placement.project_id);
  }
  return placement;
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
