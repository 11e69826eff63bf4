import {
  defineJob,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';
import { notFound, type ServedFile } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import type { Files, Saving, Upload } from '../../files/files.ts';
import type { ScanFollower } from '../../files/processing.ts';
import { requireServable } from '../../files/scan-status.ts';
import { purgeTime, restorableSince } from '../../files/trash.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf } from '../../records/kind.ts';
import type { Versioned } from '../../records/records.ts';
import { createAccess } from '../../records/scope.ts';
import type { ChatCaller } from './chat-caller.ts';
import { appendEvent } from './chat-events.ts';
import {
  findScanStatus,
  hasFile,
  messagesWithContent,
  removeFile,
  touchFile,
} from './message-files.repository.ts';
import { type Messages, message } from './messages.kind.ts';
import type { NewMessage } from './messages.rules.ts';

type Answer = AnswerOf<typeof message>;

/** Deletes the file of a deleted message for good. */
export const messageFilePurgeJob = defineJob(
  'message_file_purge',
  shape({ tenant_id: uuid(), id: uuid() }),
  { maxWaiting: Number.POSITIVE_INFINITY },
);

/** What message files need. */
export interface MessageFileDependencies {
  readonly database: Pick<Database, 'forTenant' | 'transaction'>;
  readonly files: Files;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
}

/** The handler of `messageFilePurgeJob`. */
export const messageFilePurgeHandler = ({
  database,
  files,
}: Pick<MessageFileDependencies, 'database' | 'files'>): JobHandler =>
  handleJob(messageFilePurgeJob, async ({ tenant_id, id }) => {
    await database.transaction(tenant_id, async (db) => {
      const contentId = await removeFile(db, id, restorableSince());
      if (contentId !== undefined) await files.release(db, [contentId]);
    });
  });

/** Deletes the file of a deleted message later, if it has one. */
export const purgeFileLater = async (
  jobs: MessageFileDependencies['jobs'],
  db: TenantDb,
  id: string,
): Promise<void> => {
  if (!(await hasFile(db, id))) return;
  const payload = { tenant_id: db.tenantId, id };
  await jobs.enqueue(db, messageFilePurgeJob, payload, { runAt: purgeTime() });
};

/** Adds the event `message.updated` for each message whose file was scanned, in a transaction of its own. */
export const followMessageScan: ScanFollower = async (database, contentId) => {
  for (const message_id of await messagesWithContent(database, contentId)) {
    await database.transaction(async (db) => {
      const touched = await touchFile(db, message_id, contentId);
      if (!touched) return;
      const { channel_id: channelId, position, thread_root_id } = touched;
      const payload = { message_id, position, thread_root_id };
      await appendEvent(db, { channelId, type: 'message.updated', payload });
    });
  }
};

/** A file that was sent for a message. */
export interface SentFile extends Upload {
  /** The media type, detected from the content. */
  readonly type: string;
  readonly name: string;
}

/** The files of messages. 404 unless the caller sees the channel. */
export interface MessageFiles {
  /** Posts a message with a file. Throws 413, and the errors of the upload and of posting. */
  upload<R>(
    caller: ChatCaller,
    channelId: string,
    message: Pick<NewMessage, 'body' | 'thread_root_id'>,
    sent: SentFile,
    saving: Saving<Versioned<Answer>, R>,
  ): Promise<R>;
  /** The file of a message. Throws 404, and 409 if a scan prevents it. */
  download(caller: Caller, channelId: string, messageId: string): Promise<ServedFile>;
}

export const createMessageFiles = (
  { database, files }: MessageFileDependencies,
  messages: Messages,
): MessageFiles => {
  const accessTo = createAccess(message, database);
  return {
    async upload(caller, channelId, fields, { type, name, ...upload }, saving) {
      // Before the upload; posting checks it again.
      await accessTo(channelId).open(caller);
      return files.store(caller.tenantId, upload, (uploaded, discard) =>
        saving(() => {
          const file = { files, uploaded, name, type };
          return messages.within(channelId).create(caller, { ...fields, file });
        }, discard),
      );
    },

    async download(caller, channelId, messageId) {
      const { open, findLive } = accessTo(channelId);
      const opened = await open(caller);
      const row = await findLive(opened, messageId);
      const { file_content_id: id, file_name: name, file_size: size, file_type: type } = row;
      if (id === null || name === null || size === null || type === null) {
        throw notFound('The file');
      }
      requireServable(await findScanStatus(opened.db, id));
      return {
        type,
        size,
        etag: row.file_sha256 ?? id,
        name,
        disposition: 'attachment',
        open: (range) => files.open(opened.db, id, range),
      };
    },
  };
};
