import type { Out } from '@tessera/fields';
import { HttpError, invalidField, type Logger } from '@tessera/http-kit';
import type { Caller } from '../../http.ts';
import type { ActionRule, Records } from '../../records/records.ts';
import type { TenantSource } from '../../records/scope.ts';
import type { Changed } from '../../records/viewing.ts';
import { type Column, columnGaps, isWithin, lockColumn, rankWithin } from './board-column.ts';
import { shortenRanks } from './shorten-ranks.ts';
import type { TaskTypes } from './tasks.kind.ts';
import { checkChange, completion } from './tasks.rules.ts';
import type { TaskMove } from './tasks.schema.ts';

export type Move = Out<typeof TaskMove>;

/** Each move into the same gap makes ranks longer, by one character for about six moves. */
const LONG = 40;

/** The place that a move names; throws 422 if there is none. */
const gapFor = async (
  { db, row }: Parameters<ActionRule<TaskTypes, Move>>[0],
  column: Column,
  { before_id: beforeId, after_id: afterId }: Move,
) => {
  const [field, side, neighbourId] =
    beforeId != null
      ? (['before_id', 'before', beforeId] as const)
      : (['after_id', 'after', afterId] as const);
  if (neighbourId == null) return columnGaps.atEnd(db, column, row.id);
  const gap = await columnGaps.beside(db, column, { side, neighbourId, movedId: row.id });
  if (!gap) {
    throw invalidField(
      field,
      `${field} must be the id of another task with the same project and the new status`,
    );
  }
  return gap;
};

const move: ActionRule<TaskTypes, Move> = async (context) => {
  const { db, row, body } = context;
  const { status, before_id: beforeId, after_id: afterId } = body;
  if (beforeId != null && afterId != null) {
    throw invalidField('after_id', 'after_id must not be given together with before_id');
  }
  await checkChange(context);
  const column = { projectId: row.project_id, status };
  await lockColumn(db, column);
  const gap = await gapFor(context, column, body);
  if (row.status === status && isWithin(gap, row.rank)) return {};
  return { status, rank: rankWithin(gap), ...completion(row, status) };
};

/** A task that is named in a body and does not exist is a 422. */
const refuseMissing = (error: unknown): never => {
  if (error instanceof HttpError && error.status === 404) {
    throw invalidField('task_id', 'task_id must be the id of an existing task');
  }
  throw error;
};

/** Moves tasks on the board (decision C10). */
export type Reorder = (
  caller: Caller,
  body: Move,
  versions?: readonly number[],
) => Promise<Changed<TaskTypes['answer']>>;

/**
 * Moves one task before or after another one, or to the end of a column. Of concurrent moves into one column, each
 * sees the result of the one before. A move to the place where the task is changes nothing.
 */
export const createReorder =
  (tasks: Records<TaskTypes>, source: TenantSource, logger: Logger): Reorder =>
  async (caller, body, versions) => {
    let crowded: { readonly column: Column; readonly rank: string } | undefined;
    const rule: typeof move = async (context) => {
      const placed = await move(context);
      const { rank = '' } = placed;
      if (rank.length > LONG) {
        crowded = { column: { projectId: context.row.project_id, status: body.status }, rank };
      }
      return placed;
    };
    const moved = await tasks
      .act(caller, body.task_id, { name: 'reorder', rule }, body, versions)
      .catch(refuseMissing);
    if (crowded) {
      // The move is committed: an error would make the client repeat it.
      await shortenRanks(source.forTenant(caller.tenantId), crowded.column, crowded.rank).catch(
        (err) => logger.warn({ err }, 'ranks were not shortened; the next long one tries again'),
      );
    }
    return moved;
  };
