import type { Database } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf, RowOfKind } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { createAccess } from '../../records/scope.ts';
import type { MessageQuery } from './message-list.ts';
import { type Messages, message } from './messages.kind.ts';
import { type MessagePage, readMessages } from './messages.repository.ts';

type Answer = AnswerOf<typeof message>;
type Row = RowOfKind<typeof message>;

/** Messages, and their list. */
export interface MessageService {
  readonly messages: Messages;
  /** One page of a channel's messages, newest first; 404 unless the caller sees the channel. */
  list(caller: Caller, channelId: string, query: MessageQuery): Promise<MessagePage<Answer>>;
}

const columns = Prisma.raw([...columnsOf(message).keys()].join(', '));

export const createMessageService = (database: Database): MessageService => {
  const accessTo = createAccess(message, database);
  const present = presenter<Row, Answer>(message);
  return {
    messages: createRecords(message, database),

    async list(caller, channelId, query) {
      const { db } = await accessTo(channelId).open(caller);
      const { rows, ...page } = await readMessages<Row>(db, columns, channelId, {
        before: query.before,
        after: query.after,
        perPage: query.per_page,
        threadRootId: query.thread_root_id,
        isReply: query.is_reply,
        isPinned: query.is_pinned,
      });
      return { ...page, rows: rows.map(present) };
    },
  };
};
