import { described, list, named, type Out, oneOf, optional, shape, uuid } from '@tessera/fields';
import { type Exports, invalidField, type RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { PageLinks, PageMeta, record, route } from '../../http.ts';
import { batchRoute } from '../../records/batch-routes.ts';
import { pageFields } from '../../records/list-query.ts';
import { paging } from '../../records/paging.ts';
import { recordRoutes } from '../../records/routes.ts';
import { acceptedVersions, changeProblems, tagged } from '../../records/versions.ts';
import { viewable, viewableText } from '../../records/viewing.ts';
import type { BoardColumn } from './board.ts';
import { task } from './tasks.kind.ts';
import { statuses, Task, TaskMove } from './tasks.schema.ts';
import type { Tasks } from './tasks.service.ts';

const BoardQuery = shape({
  project_id: uuid(),
  column: described(
    optional(oneOf(...statuses)),
    'Only this column; required for pages after the first.',
  ),
  ...pageFields,
});

const TaskBoard = named(
  'TaskBoard',
  shape({
    columns: list(
      named(
        'BoardColumn',
        shape({ status: oneOf(...statuses), tasks: list(Task), meta: PageMeta, links: PageLinks }),
      ),
    ),
  }),
);

/** A column with links to its own pages. */
const present = (
  url: string,
  { status, rows, ...position }: BoardColumn,
): Out<typeof TaskBoard>['columns'][number] => {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  searchParams.set('column', status);
  return { status, tasks: rows, ...paging(`${pathname}?${searchParams}`, position) };
};

export const taskRoutes = (
  { tasks, reorder, readBoard }: Tasks,
  exports: Exports,
  database: Database,
): RouteTable => {
  const routes = recordRoutes(task, tasks);
  return {
    listTasks: routes.list(),
    exportTasks: routes.export({ permission: 'tasks.export', exports }),
    getTaskBoard: route({
      method: 'get',
      path: '/tasks/board',
      permission: 'tasks.list',
      resource: 'project',
      summary: 'Show the board of a project',
      description:
        'A page of each column, in the order of the board. `per_page` is per column; further pages are those of one `column`.',
      query: BoardQuery,
      responses: { 200: record(TaskBoard) },
      problems: { 404: 'There is no such project, or it is private and the caller no member' },
      handler: async ({ caller, query, req, reply }) => {
        if (query.page > 1 && query.column === undefined) {
          throw invalidField('column', 'column is required for pages after the first');
        }
        const columns = await readBoard(caller, query);
        const shown = columns.map((column) => present(req.originalUrl, column));
        return reply(200, { data: { columns: shown } });
      },
    }),
    reorderTasks: route({
      method: 'post',
      path: '/tasks/reorder',
      permission: 'tasks.update',
      resource: 'task',
      summary: 'Move a task on the board',
      description: `Puts the task before or after another one of the column, or at its end if neither \`before_id\` nor \`after_id\` is given. ${viewableText(task)}`,
      body: TaskMove,
      responses: { 200: record(viewable(task, Task)) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, body, req, reply }) => {
        const moved = await reorder(caller, body, acceptedVersions(req.get('If-Match')));
        return reply(200, { data: moved.answer }, tagged(moved));
      },
    }),
    batchTasks: batchRoute(task, tasks, database),
    createTask: routes.create({
      description:
        'It gets the last place of its column. Viewers of a private project change none of its tasks.',
    }),
    getTask: routes.get(),
    listTaskHistory: routes.history(),
    updateTask: routes.update(),
    deleteTask: routes.delete(),
    restoreTask: routes.restore({
      description:
        'It gets its former place in its column. A record that is not deleted stays as it is.',
    }),
  };
};
