import type { ScaleScenario } from '../../scale/bench.ts';
import { besideSql } from '../../scale/comparison.ts';
import { UnexpectedResponses } from '../../scenario.ts';
import { projectOf, STATUSES, TASK_COLUMNS, tasksIn } from './board-data.ts';
import { PER_PAGE } from './table.ts';

/** The statement of the board: the first tasks of each column, and how many there are. */
const BOARD = `
  SELECT board.status AS column_name, counted.total, task.*
  FROM unnest($3::text[]) WITH ORDINALITY AS board (status, place)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS total FROM tenant_crm.tasks
    WHERE tenant_id = $1 AND project_id = $2 AND status = board.status AND deleted_at IS NULL
  ) AS counted
  LEFT JOIN LATERAL (
    SELECT ${TASK_COLUMNS} FROM tenant_crm.tasks
    WHERE tenant_id = $1 AND project_id = $2 AND status = board.status AND deleted_at IS NULL
    ORDER BY rank LIMIT ${PER_PAGE}
  ) AS task ON true
  ORDER BY board.place, task.rank`;

interface Board {
  readonly data: {
    readonly columns: readonly { readonly tasks: readonly { readonly id: string }[] }[];
  };
}

/** The board of a project with many tasks. */
export const board: ScaleScenario = {
  name: 'board',
  lists: ['/tasks/board'],
  run: async (bench) => {
    const { large } = bench;
    const project = await projectOf(bench);
    return besideSql(bench, [
      {
        what: `board of ${tasksIn(bench)} tasks`,
        tenant: large,
        path: `tasks/board?project_id=${project}`,
        statement: { text: BOARD, values: [large.tenantId, project, STATUSES] },
        check({ data }: Board, rows: { readonly data: readonly { readonly id: string }[] }) {
          const ids = data.columns.flatMap(({ tasks }) => tasks.map(({ id }) => id));
          if (ids.length === 0 || ids.join() !== rows.data.map(({ id }) => id).join()) {
            throw new UnexpectedResponses('the board and its floor have different tasks');
          }
        },
      },
    ]);
  },
};
