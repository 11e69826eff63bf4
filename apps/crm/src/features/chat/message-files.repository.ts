import { notFound } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { ScanStatus } from '../../files/scan-status.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { PresentedFile } from './message-file.ts';
import { REVISED } from './messages.repository.ts';

const { sql, raw } = Prisma;

interface WithFile {
  readonly id: string;
  readonly file: PresentedFile | null;
}

/** The columns of a message that its event contains. */
interface TouchedMessage {
  readonly channel_id: string;
  readonly position: number;
  readonly thread_root_id: string | null;
}

/** The same messages with the scan status of their files. Reads nothing if none has a file. */
export const withScanStatus = async <M extends WithFile>(
  db: TenantDb,
  messages: readonly M[],
): Promise<M[]> => {
  const ids = messages.filter(({ file }) => file !== null).map(({ id }) => id);
  if (ids.length === 0) return [...messages];
  const rows = await db.read<{ id: string; scan_status: ScanStatus }>(sql`
    SELECT message.id, content.scan_status FROM ${raw(db.readSchema)}.messages AS message
    JOIN ${raw(db.readSchema)}.file_contents AS content
      ON content.tenant_id = ${db.tenantId}::uuid AND content.id = message.file_content_id
    WHERE message.tenant_id = ${db.tenantId}::uuid AND message.id = ANY(${ids}::uuid[])`);
  const statuses = new Map(rows.map((row) => [row.id, row.scan_status]));
  return messages.map((message) => {
    const scan_status = statuses.get(message.id);
    if (!(message.file && scan_status)) return message;
    return Object.assign({}, message, { file: Object.assign({}, message.file, { scan_status }) });
  });
};

/** The scan status of a content. Throws 404 if it was released meanwhile. */
export const findScanStatus = async (db: TenantDb, contentId: string): Promise<ScanStatus> => {
  const [content] = await db.query<{ scan_status: ScanStatus }>(sql`
    SELECT scan_status FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${contentId}::uuid`);
  if (!content) throw notFound('The file');
  return content.scan_status;
};

/** Whether a message has a file. */
export const hasFile = async (db: TenantDb, messageId: string): Promise<boolean> => {
  const found = await db.query(sql`
    SELECT id FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${messageId}::uuid
      AND file_content_id IS NOT NULL`);
  return found.length > 0;
};

const WITHOUT_FILE = sql`version = version + 1, file_content_id = NULL, file_name = NULL, file_size = NULL,
  file_type = NULL, file_sha256 = NULL`;

/**
 * Removes the file of a message that was deleted by `deletedBefore`. Returns the content that it referred to; undefined
 * if there was none.
 */
export const removeFile = async (
  db: TenantDb,
  messageId: string,
  deletedBefore: Date,
): Promise<string | undefined> => {
  const [removed] = await db.query<{ file_content_id: string }>(sql`
    WITH found AS (
      SELECT id, file_content_id FROM tenant_crm.messages
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${messageId}::uuid
        AND deleted_at <= ${deletedBefore} AND file_content_id IS NOT NULL
      FOR NO KEY UPDATE
    )
    UPDATE tenant_crm.messages SET ${WITHOUT_FILE} FROM found
    WHERE messages.tenant_id = ${db.tenantId}::uuid AND messages.id = found.id
    RETURNING found.file_content_id`);
  return removed?.file_content_id;
};

/** Which files of a channel are removed: the next ones after a position, if the channel was deleted by then. */
interface RemovedFiles {
  readonly after: number;
  readonly most: number;
  readonly deletedBefore: Date;
}

/**
 * Removes files of the messages of a deleted channel, in the order of their positions. Returns the contents that they
 * referred to, and the last position; undefined if there was none, or if the channel is no longer deleted.
 */
export const removeFilesOfChannel = async (
  db: TenantDb,
  channelId: string,
  { after, most, deletedBefore }: RemovedFiles,
): Promise<{ readonly contentIds: readonly string[]; readonly last: number | undefined }> => {
  const found = await db.query<{ id: string; position: number; file_content_id: string }>(sql`
    SELECT id, position, file_content_id FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid
      AND position > ${after} AND file_content_id IS NOT NULL
    ORDER BY position LIMIT ${most} FOR NO KEY UPDATE`);
  // It cannot be restored until the transaction ends.
  const channels = await db.query(sql`
    SELECT id FROM tenant_crm.channels
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${channelId}::uuid AND deleted_at <= ${deletedBefore}
    FOR NO KEY UPDATE`);
  if (channels.length === 0) return { contentIds: [], last: undefined };
  const ids = found.map(({ id }) => id);
  await db.query(sql`
    UPDATE tenant_crm.messages SET ${WITHOUT_FILE}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`);
  const contentIds = found.map(({ file_content_id }) => file_content_id);
  return { contentIds, last: found.at(-1)?.position };
};

/** The ids of the messages whose file is a content. */
export const messagesWithContent = async (db: TenantDb, contentId: string): Promise<string[]> => {
  const rows = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND file_content_id = ${contentId}::uuid
      AND deleted_at IS NULL ORDER BY id`);
  return rows.map(({ id }) => id);
};

/** Increments the revision of a message that still has this file; undefined if there is none. */
export const touchFile = async (
  db: TenantDb,
  messageId: string,
  contentId: string,
): Promise<TouchedMessage | undefined> => {
  const [touched] = await db.query<TouchedMessage>(sql`
    UPDATE tenant_crm.messages SET ${REVISED}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${messageId}::uuid
      AND file_content_id = ${contentId}::uuid AND deleted_at IS NULL
    RETURNING channel_id, position, thread_root_id`);
  return touched;
};
