import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { AnswerOf, RowOfKind } from '../../records/kind.ts';
import { createRecords, type Versioned } from '../../records/records.ts';
import { columnsOf, presenter } from '../../records/row.ts';
import { createAccess } from '../../records/scope.ts';
import { type Changed, isShown } from '../../records/viewing.ts';
import type { ChatCaller } from './chat-caller.ts';
import { withScanStatus } from './message-files.repository.ts';
import {
  createMessageFiles,
  type MessageFileDependencies,
  type MessageFiles,
  purgeFileLater,
} from './message-files.service.ts';
import type { MessageQuery } from './message-list.ts';
import { type Messages, message } from './messages.kind.ts';
import { findMessage, type MessagePage, readMessages } from './messages.repository.ts';
import { requireAuthorOrOwner } from './messages.rules.ts';
import { reactionsTo } from './reactions.repository.ts';

type Answer = AnswerOf<typeof message>;
type Row = RowOfKind<typeof message>;

/** Messages, and their list. */
export interface MessageService {
  readonly messages: Messages;
  readonly files: MessageFiles;
  /** One page of a channel's messages, newest first; 404 unless the caller sees the channel. */
  list(caller: ChatCaller, channelId: string, query: MessageQuery): Promise<MessagePage<Answer>>;
}

const columns = Prisma.raw([...columnsOf(message).keys()].join(', '));

/** The same messages with their reactions, and with the scan status of their files. */
const completed = async (
  db: TenantDb,
  { userUuid }: ChatCaller,
  answers: readonly Answer[],
): Promise<Answer[]> => {
  const ids = answers.map(({ id }) => id);
  const [reactions, scanned] = await Promise.all([
    reactionsTo(db, ids, userUuid),
    withScanStatus(db, answers),
  ]);
  return scanned.map((answer) =>
    Object.assign({}, answer, { reactions: [...(reactions.get(answer.id) ?? [])] }),
  );
};

/**
 * Messages whose responses are complete. An action that removes the file of a message releases its content; a deleted
 * message keeps it for a time.
 */
const createMessages = ({ database, files, jobs }: MessageFileDependencies): Messages => {
  const messages = createRecords(message, database);
  const complete = async (
    caller: ChatCaller,
    read: Promise<Versioned<Answer>>,
  ): Promise<Versioned<Answer>> => {
    const found = await read;
    const db = database.forTenant(caller.tenantId);
    const [answer = found.answer] = await completed(db, caller, [found.answer]);
    return { ...found, answer };
  };
  const completeChanged = async (
    caller: ChatCaller,
    changing: Promise<Changed<Answer>>,
  ): Promise<Changed<Answer>> => {
    const changed = await changing;
    return isShown(changed) ? complete(caller, Promise.resolve(changed)) : changed;
  };
  const within: Messages['within'] = (...keys) => {
    const inChannel = messages.within(...keys);
    return {
      ...inChannel,
      get: (caller, id) => complete(caller, inChannel.get(caller, id)),
      create: (caller, input) => complete(caller, inChannel.create(caller, input)),
      update: (caller, ...change) => completeChanged(caller, inChannel.update(caller, ...change)),
      restore: (caller, ...change) => completeChanged(caller, inChannel.restore(caller, ...change)),

      // What a deleted message said is for those who can restore it.
      async history(caller, id, query) {
        const changes = await inChannel.history(caller, id, query);
        const db = database.forTenant(caller.tenantId);
        const row = await findMessage(db, id);
        if (row?.deleted_at) await requireAuthorOrOwner({ caller, db, row });
        return changes;
      },

      delete: (caller, id, versions) =>
        database.transaction(caller.tenantId, async (db) => {
          await inChannel.delete(caller, id, versions);
          await purgeFileLater(jobs, db, id);
        }),

      act: (caller, id, { name, rule }, ...change) => {
        const acted = database.transaction(caller.tenantId, async (db) => {
          let released: string | undefined;
          const noting: typeof rule = async (context) => {
            const values = await rule(context);
            const { file_content_id: contentId } = context.row;
            if (contentId !== null && values.file_content_id === null) released = contentId;
            return values;
          };
          const changed = await inChannel.act(caller, id, { name, rule: noting }, ...change);
          if (released !== undefined) await files.release(db, [released]);
          return changed;
        });
        return completeChanged(caller, acted);
      },
    };
  };
  return { ...messages, within };
};

export const createMessageService = (dependencies: MessageFileDependencies): MessageService => {
  const { database } = dependencies;
  const messages = createMessages(dependencies);
  const accessTo = createAccess(message, database);
  const present = presenter<Row, Answer>(message);
  return {
    messages,
    files: createMessageFiles(dependencies, messages),

    async list(caller, channelId, query) {
      const { db } = await accessTo(channelId).open(caller);
      const { rows, ...page } = await readMessages<Row>(db, columns, channelId, {
        before: query.before,
        after: query.after,
        page: query.page,
        perPage: query.per_page,
        threadRootId: query.thread_root_id,
        isReply: query.is_reply,
        isPinned: query.is_pinned,
      });
      return { ...page, rows: await completed(db, caller, rows.map(present)) };
    },
  };
};
