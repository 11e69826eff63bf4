import type { Logger } from '@tessera/http-kit';
import type { RecordsOf } from '../../records/records.ts';
import type { TenantSource } from '../../records/scope.ts';
import { recordsAboutContacts } from '../contacts/merged-contacts.ts';
import { createBoard, type ReadBoard } from './board.ts';
import { createReorder, type Reorder } from './reorder.ts';
import { task } from './tasks.kind.ts';

/** Tasks, and their boards. */
export interface Tasks {
  readonly tasks: RecordsOf<typeof task>;
  readonly reorder: Reorder;
  readonly readBoard: ReadBoard;
}

export const createTasks = (source: TenantSource, logger: Logger): Tasks => {
  const tasks = recordsAboutContacts(task, source);
  return {
    tasks,
    reorder: createReorder(tasks, source, logger),
    readBoard: createBoard(source),
  };
};
