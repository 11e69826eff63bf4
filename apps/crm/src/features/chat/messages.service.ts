import type { Database, TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf, RowOfKind } from '../../records/kind.ts';
import { createRecords, type Versioned } from '../../records/records.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { createAccess } from '../../records/scope.ts';
import type { MessageQuery } from './message-list.ts';
import { type Messages, message } from './messages.kind.ts';
import { type MessagePage, readMessages } from './messages.repository.ts';
import { reactionsTo } from './reactions.repository.ts';

type Answer = AnswerOf<typeof message>;
type Row = RowOfKind<typeof message>;

/** Messages, and their list. */
export interface MessageService {
  readonly messages: Messages;
  /** One page of a channel's messages, newest first; 404 unless the caller sees the channel. */
  list(caller: Caller, channelId: string, query: MessageQuery): Promise<MessagePage<Answer>>;
}

const columns = Prisma.raw([...columnsOf(message).keys()].join(', '));

/** The same messages with their reactions. */
const withReactions = async (
  db: TenantDb,
  { userUuid }: Caller,
  answers: readonly Answer[],
): Promise<Answer[]> => {
  const ids = answers.map(({ id }) => id);
  const reactions = await reactionsTo(db, ids, userUuid);
  return answers.map((answer) => ({ ...answer, reactions: [...(reactions.get(answer.id) ?? [])] }));
};

/** Messages whose responses contain their reactions. */
const createMessages = (database: Database): Messages => {
  const messages = createRecords(message, database);
  const complete = async (
    caller: Caller,
    changed: Promise<Versioned<Answer>>,
  ): Promise<Versioned<Answer>> => {
    const found = await changed;
    const db = database.forTenant(caller.tenantId);
    const [answer = found.answer] = await withReactions(db, caller, [found.answer]);
    return { ...found, answer };
  };
  const within: Messages['within'] = (...keys) => {
    const inChannel = messages.within(...keys);
    return {
      ...inChannel,
      get: (caller, id) => complete(caller, inChannel.get(caller, id)),
      update: (caller, ...change) => complete(caller, inChannel.update(caller, ...change)),
      restore: (caller, ...change) => complete(caller, inChannel.restore(caller, ...change)),
      act: (caller, ...change) => complete(caller, inChannel.act(caller, ...change)),
    };
  };
  return { ...messages, within };
};

export const createMessageService = (database: Database): MessageService => {
  const accessTo = createAccess(message, database);
  const present = presenter<Row, Answer>(message);
  return {
    messages: createMessages(database),

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
      return { ...page, rows: await withReactions(db, caller, rows.map(present)) };
    },
  };
};
