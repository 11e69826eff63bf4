import { HttpError, notFound } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { createRecords } from '../../records/records.ts';
import { createAccess } from '../../records/scope.ts';
import { appendEvent } from './chat-events.ts';
import { canonicalEmoji } from './emoji.ts';
import { message } from './messages.kind.ts';
import {
  countEmoji,
  deleteReaction,
  insertReaction,
  listReactions,
  type Reaction,
  touchMessage,
  type UserReaction,
} from './reactions.repository.ts';

/** The message that a reaction is for. */
export interface MessagePath {
  readonly channelId: string;
  readonly messageId: string;
}

/** The reactions of users to messages. 404 unless the caller sees the channel and the message exists. */
export interface Reactions {
  /** Once per user and emoji: the second time, nothing changes. */
  add(caller: Caller, of: MessagePath, emoji: string): Promise<Reaction>;
  /** 404 if the caller has not reacted with it. */
  remove(caller: Caller, of: MessagePath, emoji: string): Promise<void>;
  /** 404 unless the caller sees the channel; the message may have been deleted. */
  requireVisible(caller: Caller, of: MessagePath): Promise<void>;
  list(
    caller: Caller,
    of: MessagePath,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly total: number; readonly rows: UserReaction[] }>;
}

/** The maximum number of different emoji on one message. */
const MAX_EMOJI = 50;

export const createReactions = (database: Database): Reactions => {
  const accessTo = createAccess(message, database);
  const messages = createRecords(message, database);

  /** Changes the reactions of a locked message, and announces the change if there is one. */
  const change = (
    caller: Caller,
    { channelId, messageId }: MessagePath,
    emoji: string,
    work: (
      db: TenantDb,
      reaction: Reaction,
    ) => Promise<'reaction.added' | 'reaction.removed' | undefined>,
  ): Promise<Reaction> =>
    database.transaction(caller.tenantId, async (db) => {
      const { open, findLive } = accessTo(channelId);
      const user_id = requireUser(caller);
      const row = await findLive(await open(caller), messageId, { lock: 'lock' });
      if (row.recalled_at) throw new HttpError(409, 'conflict', 'The message is recalled.');
      const reaction = { message_id: row.id, emoji, user_id };
      const type = await work(db, reaction);
      if (!type) return reaction;
      await touchMessage(db, row.id);
      const payload = { message_id: row.id, position: row.position, emoji, user_id };
      await appendEvent(db, { channelId: row.channel_id, type, payload });
      return reaction;
    });

  return {
    add: (caller, of, given) =>
      change(caller, of, canonicalEmoji(given) ?? given, async (db, reaction) => {
        const isNew = await insertReaction(db, reaction);
        if (isNew && (await countEmoji(db, reaction.message_id)) > MAX_EMOJI) {
          const text = `A message has at most ${MAX_EMOJI} different emoji.`;
          throw new HttpError(409, 'conflict', text);
        }
        return isNew ? 'reaction.added' : undefined;
      }),

    async remove(caller, of, given) {
      await change(caller, of, canonicalEmoji(given) ?? given, async (db, reaction) => {
        if (!(await deleteReaction(db, reaction))) throw notFound('The reaction');
        return 'reaction.removed';
      });
    },

    requireVisible: (caller, { channelId, messageId }) =>
      messages.within(channelId).requireVisible(caller, [messageId]),

    async list(caller, { channelId, messageId }, page) {
      const { open, findLive } = accessTo(channelId);
      const opened = await open(caller);
      const { id } = await findLive(opened, messageId);
      return listReactions(opened.db, id, page);
    },
  };
};
