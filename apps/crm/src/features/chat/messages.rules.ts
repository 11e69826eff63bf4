import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { BotCaller } from '../../bots/bot-access.ts';
import type { TenantDb } from '../../database.ts';
import type { Files, UploadedFile } from '../../files/files.ts';
import { actorOf } from '../../records/actor.ts';
import { readSettings } from '../settings/settings.service.ts';
import { lockChannel, takePosition } from './channels.repository.ts';
import type { ChatCaller } from './chat-caller.ts';
import { appendEvent, type ChatEventType, lockFeed } from './chat-events.ts';
import { storeMentions } from './mentions.repository.ts';
import { mentionsIn } from './mentions.ts';
import { type FileColumns, noFile } from './message-file.ts';
import { addReply, forgetTexts, type MessageState, recountReply } from './messages.repository.ts';
import { addParticipants, roleIn } from './participants.repository.ts';
import { markRead } from './streams/read-markers.repository.ts';
import { isBotIn } from './webhooks/bot-webhooks.repository.ts';

interface Context {
  readonly caller: ChatCaller;
  readonly db: TenantDb;
}

interface RowContext extends Context {
  readonly row: MessageState;
}

/** A file that was uploaded for a message. */
export interface NewFile {
  readonly files: Files;
  readonly uploaded: UploadedFile;
  readonly name: string;
  /** The media type, detected from the content. */
  readonly type: string;
}

export interface NewMessage {
  /** Null only with a file. */
  readonly body: string | null;
  readonly thread_root_id?: string | null;
  readonly file?: NewFile;
}

/**
 * The columns of a new message's file. The feed is locked before the content, as in a recall, which adds its event
 * before it releases the content.
 */
const referToFile = async (db: TenantDb, file: NewFile): Promise<FileColumns> => {
  const { files, uploaded, name, type } = file;
  await lockFeed(db);
  return {
    file_content_id: await files.refer(db, uploaded, type),
    file_name: name,
    file_size: uploaded.size,
    file_type: type,
    file_sha256: uploaded.sha256,
  };
};

/** The columns of the author of what a caller writes: the user, the bot, or the client of a token without a user (decision C21). */
export const authorOf = (caller: ChatCaller) => {
  if (caller instanceof BotCaller) return { author_type: 'bot' as const, bot_id: caller.botId };
  if (caller.userUuid !== null) return { author_type: 'user' as const, user_id: caller.userUuid };
  return { author_type: 'client' as const, client_id: actorOf(caller).clientId };
};

/**
 * The columns of a new message. Users who write in a public channel join it; in any other one, and everywhere as a bot,
 * the caller must still belong to it once it is locked.
 */
export const prepareMessage = async (
  { body, thread_root_id: rootId, file }: NewMessage,
  { caller, db, columns }: Context & { readonly columns: { readonly channel_id?: string } },
) => {
  const channelId = columns.channel_id ?? '';
  if (rootId && !(await addReply(db, channelId, rootId))) {
    const message = 'thread_root_id must be the id of a message of the channel that is no reply';
    throw invalidField('thread_root_id', message);
  }
  const { kind, position } = await takePosition(db, channelId);
  const { userUuid } = caller;
  const role = userUuid === null ? undefined : await roleIn(db, channelId, userUuid);
  const isMember =
    caller instanceof BotCaller ? await isBotIn(db, channelId, caller.botId) : role !== undefined;
  const mayJoin = kind === 'public' && !(caller instanceof BotCaller);
  if (!isMember && !mayJoin) throw notFound('The channel');
  if (!role && userUuid !== null) {
    const cause = { action: 'create', actor: actorOf(caller) };
    await addParticipants(db, cause, { channelId, userIds: [userUuid], role: 'member' });
  }
  if (userUuid !== null) await markRead(db, { channelId, userId: userUuid, position });
  const fileValues = file ? await referToFile(db, file) : noFile;
  const author = authorOf(caller);
  return Object.assign({ position, mentions: mentionsIn(body ?? '') }, author, fileValues);
};

const isAuthor = ({ caller, row }: RowContext): boolean => {
  const author = authorOf(caller);
  if (author.author_type !== row.author_type) return false;
  if (author.author_type === 'user') return row.user_id === author.user_id;
  if (author.author_type === 'bot') return row.bot_id === author.bot_id;
  return row.client_id === author.client_id;
};

/** Throws 403 `not_the_author` unless the caller wrote the message. */
export const requireAuthor = (context: RowContext): void => {
  if (isAuthor(context)) return;
  throw new HttpError(403, 'not_the_author', 'Only the author of the message can do this.');
};

const assertNotRecalled = ({ row }: RowContext): void => {
  if (row.recalled_at) throw new HttpError(409, 'conflict', 'The message is recalled.');
};

/** Authors edit their messages, unless they have recalled them. With the text that it has, a message is not edited. */
export const editMessage = (change: { readonly body?: string }, context: RowContext) => {
  requireAuthor(context);
  assertNotRecalled(context);
  if (change.body === undefined || change.body === context.row.body) return {};
  return { edited_at: new Date(), mentions: mentionsIn(change.body) };
};

const MINUTE_MS = 60_000;

/**
 * Authors recall their messages within the time that the tenant has set, and nobody reads them afterwards. Later,
 * this is a 409 `recall_expired`.
 */
export const recallMessage = async (context: RowContext) => {
  requireAuthor(context);
  assertNotRecalled(context);
  const { db, row } = context;
  const { message_recall_minutes: minutes } = await readSettings(db);
  if (Date.now() - row.created_at.getTime() >= minutes * MINUTE_MS) {
    const message = `A message can be recalled within ${minutes} minutes.`;
    throw new HttpError(409, 'recall_expired', message);
  }
  const recalled_at = new Date();
  return { body: null, mentions: [], recalled_at, pinned_at: null, pinned_by: null, ...noFile };
};

/** Pins a message; one that is pinned stays as it is. */
export const pinMessage = (context: RowContext) => {
  assertNotRecalled(context);
  const { caller, row } = context;
  return row.pinned_at ? {} : { pinned_at: new Date(), pinned_by: caller.userUuid };
};

export const unpinMessage = ({ row }: RowContext) =>
  row.pinned_at ? { pinned_at: null, pinned_by: null } : {};

/** Authors and owners of the channel delete and restore a message; the thread counts its replies. */
export const requireAuthorOrOwner = async (context: RowContext): Promise<void> => {
  const { caller, db, row } = context;
  if (isAuthor(context)) return;
  if ((await roleIn(db, row.channel_id, caller.userUuid)) !== 'owner') requireAuthor(context);
};

export const checkDeletion = async (context: RowContext): Promise<void> => {
  await requireAuthorOrOwner(context);
  await recountReply(context.db, context.row, -1);
};

export const checkRestoration = async (context: RowContext): Promise<void> => {
  await requireAuthorOrOwner(context);
  const { body, file_content_id: file, recalled_at: recalledAt } = context.row;
  if (body === null && file === null && recalledAt === null) {
    const message = 'The message had only a file, which has been deleted for good.';
    throw new HttpError(409, 'conflict', message);
  }
  await recountReply(context.db, context.row, 1);
  // A deletion of the channel that is under way does not see the message, and does not ask for force.
  await lockChannel(context.db, context.row.channel_id);
};

const events: Readonly<Record<string, ChatEventType>> = {
  create: 'message.created',
  update: 'message.updated',
  delete: 'message.deleted',
  restore: 'message.restored',
  recall: 'message.recalled',
  pin: 'message.pinned',
  unpin: 'message.unpinned',
};

/** Stores whom a changed message mentions, removes what was recalled from the history, and adds the event. */
export const followMessage = async ({
  action,
  db,
  before,
  row,
}: RowContext & {
  readonly action: string;
  readonly before: MessageState | undefined;
}): Promise<void> => {
  await storeMentions(db, before, row);
  if (action === 'recall') await forgetTexts(db, row.id);
  const type = events[action];
  if (!type) throw new TypeError(`A message has no event for ${action}.`);
  const { id: message_id, channel_id: channelId, position, thread_root_id } = row;
  await appendEvent(db, { channelId, type, payload: { message_id, position, thread_root_id } });
};
