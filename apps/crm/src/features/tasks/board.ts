import { lastPage, notFound } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { COUNTED } from '../../records/hits.ts';
import { offsetOf, offsetWithin, type Page } from '../../records/listing.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { type TenantSource, visibleOf } from '../../records/scope.ts';
import { project } from '../projects/projects.kind.ts';
import { type TaskTypes, task } from './tasks.kind.ts';
import { type Status, statuses } from './tasks.schema.ts';

const { sql, raw } = Prisma;

/** The part of a board that a request asks for. */
export interface BoardQuery {
  readonly project_id: string;
  /** Only this column. */
  readonly column?: Status | undefined;
  readonly page: number;
  readonly per_page: number;
}

/** One page of a column. */
export interface BoardColumn extends Page<TaskTypes['answer']> {
  readonly status: Status;
}

/** Reads the board of a project; throws 404 if the caller cannot see the project. */
export type ReadBoard = (caller: Caller, query: BoardQuery) => Promise<BoardColumn[]>;

const columns = raw([...columnsOf(task).keys()].join(', '));
const present = presenter<TaskTypes['row'], TaskTypes['answer']>(task);

const selectVisible = visibleOf(project);

interface Row extends Omit<TaskTypes['row'], 'id'> {
  /** Whether the caller sees the project. */
  readonly is_visible: boolean;
  readonly column_name: Status;
  readonly total: number;
  /** Null in a column without tasks. */
  readonly id: string | null;
}

type TaskRow = TaskTypes['row'] & Row;

const isTask = (row: Row): row is TaskRow => row.id !== null;

/** All columns in one statement, and so of one moment, with one more task each than the page has. */
const readRows = (
  db: TenantDb,
  caller: Caller,
  asked: readonly Status[],
  query: BoardQuery,
): Promise<Row[]> => {
  const { project_id: projectId, page, per_page: perPage } = query;
  const tasks = sql`FROM ${raw(db.readSchema)}.tasks
    WHERE tenant_id = ${db.tenantId}::uuid AND project_id = ${projectId}::uuid
      AND status = board.column_name AND deleted_at IS NULL`;
  const offset = offsetOf(page, perPage);
  // So far from the start, the page is read only if the column has it.
  const most = offset > COUNTED ? null : COUNTED + 1;
  return db.read<Row>(
    sql`
    SELECT EXISTS (${selectVisible(db, caller, [projectId])}) AS is_visible,
      board.column_name, counted.total, task.*
    FROM unnest(${asked}::text[]) WITH ORDINALITY AS board (column_name, place)
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS total FROM (SELECT ${tasks} LIMIT ${most}::bigint) AS first_tasks
    ) AS counted
    LEFT JOIN LATERAL (
      SELECT ${columns} ${tasks} ORDER BY rank LIMIT ${perPage + 1} OFFSET
        ${offsetWithin({ page, perPage }, sql`counted.total`)}
    ) AS task ON true
    ORDER BY board.place, task.rank`,
    { planOnce: true },
  );
};

/** The board of projects. */
export const createBoard =
  (source: TenantSource): ReadBoard =>
  async (caller, query) => {
    const { column, page, per_page: perPage } = query;
    const asked = column === undefined ? statuses : [column];
    const rows = await readRows(source.forTenant(caller.tenantId), caller, asked, query);
    if (!rows[0]?.is_visible) throw notFound(`The ${project.name}`);
    return asked.map((status): BoardColumn => {
      const inColumn = rows.filter(({ column_name }) => column_name === status);
      const counted = inColumn[0]?.total ?? 0;
      const tasks = inColumn.filter(isTask);
      const shown = Math.min(page, lastPage(counted, perPage));
      const totalIsMinimum = counted > COUNTED && shown === page;
      return {
        status,
        rows: tasks.slice(0, perPage).map(present),
        page: shown,
        perPage,
        total: totalIsMinimum ? COUNTED : counted,
        totalIsMinimum,
        more: tasks.length > perPage,
      };
    });
  };
