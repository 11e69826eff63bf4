import type { Readable } from 'node:stream';
import type { JobQueue } from '@tessera/background-work/jobs';
import {
  type ByteRange,
  type FileStore,
  FileTooLarge,
  ObjectDamaged,
  type StoredFile,
  StoreFull,
} from '@tessera/file-store';
import { HttpError } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, TenantDb } from '../database.ts';
import { createDownloadShares, type Reader } from './downloads.ts';
import { fileUnavailable, quotaExceeded, storageFull } from './file-limits.ts';
import {
  addContent,
  addReference,
  type Content,
  findContent,
  findContentOf,
  findThumbnail,
  insertPending,
  markAbandoned,
  type Thumbnail,
  takePending,
} from './files.repository.ts';
import { createRemoval, fileRemovalJob } from './removal.ts';
import { requireServable, type ScanStatus } from './scan-status.ts';
import { findUnused, markMissing } from './sweep.repository.ts';
import { addUsage, readUsage } from './usage.ts';

/** An upload that has not ended by then was interrupted: no upload may take longer than an hour. */
const PENDING_MS = 3 * 3_600_000;

/** A file in the store that no record refers to yet. */
export interface UploadedFile extends StoredFile {
  /** The id of the object. */
  readonly id: string;
  /** The object of the same bytes that this one replaces, because it is missing or not encrypted. */
  readonly replaces: string | null;
  /** The bytes of it that the usage contains already. */
  readonly counted: number;
}

/** A content that a record refers to for the first time. */
export interface NewContent {
  readonly contentId: string;
  /** The media type, detected from the content. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** Runs in the transaction in which a content is first referred to, and can enqueue jobs for it. */
export type NewContentHook = (db: TenantDb, content: NewContent) => Promise<void>;

/** The content of an upload, as http-kit hands it over. */
export interface Upload {
  readonly content: AsyncIterable<Uint8Array>;
  /** Bytes, not yet verified. */
  readonly announcedSize: number | null;
  /** The bytes of it that the usage already contains, such as those of the parts of an upload; 0 by default. */
  readonly counted?: number;
}

/** Runs `save` as a part of other work, after the upload; or `discard`, which deletes the stored file. */
export type Saving<Saved, R> = (
  save: () => Promise<Saved>,
  discard: () => Promise<void>,
) => Promise<R>;

/**
 * Files of a tenant. Identical content is stored once, however many records refer to it; the usage counts it for each
 * of them.
 */
export interface Files {
  /**
   * Stores a file, then runs `save` in a transaction, which must call `refer` with the file, or `discard` outside of
   * the transaction. If the process is killed in between, the file is deleted later. Throws 413 beyond the quota, and
   * the error of the content.
   */
  store<R>(
    tenantId: string,
    upload: Upload,
    save: (file: UploadedFile, discard: () => Promise<void>) => Promise<R>,
  ): Promise<R>;
  /** Throws 413 unless the quota has room for this many bytes more. */
  requireRoom(db: TenantDb, bytes: number): Promise<void>;
  /**
   * Counts an uploaded file that a row of the transaction refers to by its object, without a content. Throws 413 beyond
   * the quota.
   */
  keepObject(db: TenantDb, file: UploadedFile): Promise<void>;
  /** Subtracts the bytes of objects of `keepObject` from the usage. */
  releaseObjects(db: TenantDb, bytes: number): Promise<void>;
  /**
   * Makes a record of the transaction refer to an uploaded file of the media type; returns the id of the content. What
   * is `derived` from another content is not processed as a new one.
   */
  refer(
    db: TenantDb,
    file: UploadedFile,
    type: string,
    origin?: 'uploaded' | 'derived',
  ): Promise<string>;
  /** Makes another record of the transaction refer to a content. Throws 413 beyond the quota. */
  referAgain(db: TenantDb, contentId: string): Promise<void>;
  /** Ends references in the transaction; contents without any are deleted after it. */
  release(db: TenantDb, contentIds: readonly string[]): Promise<void>;
  /** The scan status of a content, which a record of the transaction that refers to the content copies. */
  scanStatus(db: TenantDb, contentId: string): Promise<ScanStatus>;
  /** The content that is the thumbnail of a content; undefined if there is none. */
  thumbnail(db: TenantDb, contentId: string): Promise<Thumbnail | undefined>;
  /**
   * Opens a content, or a range of it, for a response. Throws 409 if it may not be served, 503 if the store cannot open it,
   * and 429 if the tenant's members, or its public, have their share of the downloads of this process.
   */
  open(db: TenantDb, contentId: string, range?: ByteRange, reader?: Reader): Promise<Readable>;
  /** The same for a job, which reads at once and is not counted as a download. */
  openForReading(db: TenantDb, contentId: string, range?: ByteRange): Promise<Readable>;
  /** Opens a content, whatever its scan status. Only for the scan. */
  openForScan(db: TenantDb, contentId: string): Promise<Readable>;
}

/** What `createFiles` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly store: FileStore;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly maxBytes: number;
  /** The quota of tenants that have none of their own, in bytes; undefined for no limit. */
  readonly defaultQuota: number | undefined;
  /** Called in this order for each new content. */
  readonly onNewContent: readonly NewContentHook[];
}

export const createFiles = ({
  database,
  store,
  jobs,
  maxBytes,
  defaultQuota,
  onNewContent,
}: Dependencies): Files => {
  const quotaOf = (own: number | null): number => own ?? defaultQuota ?? Number.POSITIVE_INFINITY;

  const { remove, release } = createRemoval(jobs);

  /** Deletes an object unless a record refers to it: a transaction may have committed before its connection broke. */
  const giveUp = async (db: TenantDb, id: string): Promise<void> => {
    if (await markAbandoned(db, id)) {
      await jobs.enqueue(db, fileRemovalJob, { tenant_id: db.tenantId, id });
    } else if ((await findUnused(db, [id])).length > 0) {
      // The rows of the tenant were deleted during the upload.
      await remove(db, id);
    }
  };

  /**
   * The object that has the same bytes but is to be replaced: it is missing or damaged, does not decrypt, or the file is
   * encrypted and it is not.
   */
  const findReplaced = async (db: TenantDb, file: StoredFile): Promise<string | null> => {
    const known = await findContentOf(db, file.sha256);
    if (!known) return null;
    const { object_id: id, sealed_key: sealedKey } = known;
    if (known.is_missing || (file.sealedKey && !sealedKey)) return id;
    const isIntact = await store.isIntact({
      tenantId: db.tenantId,
      id,
      size: known.size,
      sealedKey,
    });
    return isIntact ? null : id;
  };

  /** How many bytes the quota has left. */
  const leftOf = async (db: TenantDb): Promise<number> => {
    const { bytes, quota_bytes } = await readUsage(db);
    return Math.max(0, quotaOf(quota_bytes) - bytes);
  };

  const write = async (
    db: TenantDb,
    id: string,
    { content, announcedSize, counted = 0 }: Upload,
  ): Promise<UploadedFile> => {
    const left = (await leftOf(db)) + counted;
    if ((announcedSize ?? 0) > left) throw quotaExceeded(left);
    const object = { tenantId: db.tenantId, id };
    try {
      const stored = await store.put(object, content, { maxBytes: Math.min(maxBytes, left) });
      const replaces = await findReplaced(db, stored);
      const { size, sha256, sealedKey } = stored;
      return { id, size, sha256, sealedKey, replaces, counted };
    } catch (error) {
      if (error instanceof FileTooLarge && error.maxBytes === left) throw quotaExceeded(left);
      if (error instanceof HttpError || error instanceof FileTooLarge) throw error;
      throw error instanceof StoreFull ? storageFull(error) : fileUnavailable(error);
    }
  };

  const contentOf = async (db: TenantDb, id: string): Promise<Content> => {
    const found = await findContent(db, id);
    if (!found) throw fileUnavailable(new Error(`There is no content ${id}.`));
    return found;
  };

  /**
   * Opens a content. Marks it as damaged if it does not decrypt, so that uploading its bytes again repairs it: its size
   * does not show that.
   */
  const read = async (db: TenantDb, content: Content, range?: ByteRange): Promise<Readable> => {
    const { tenantId } = db;
    const { object_id: id, size, sealed_key: sealedKey } = content;
    const noteDamage = async (error: unknown): Promise<void> => {
      if (error instanceof ObjectDamaged) await markMissing(db, content, true);
    };
    try {
      const stream = await store.get({ tenantId, id, size, sealedKey }, range);
      // The stream has failed, whether or not this can be noted.
      stream.once('error', (error) => void noteDamage(error).catch(() => undefined));
      return stream;
    } catch (error) {
      await noteDamage(error);
      throw fileUnavailable(error);
    }
  };

  const openForReading = async (
    db: TenantDb,
    contentId: string,
    range?: ByteRange,
  ): Promise<Readable> => {
    const content = await contentOf(db, contentId);
    requireServable(content.scan_status);
    return read(db, content, range);
  };

  const countDownload = createDownloadShares();

  /** Claims an uploaded file, which is then no longer deleted as abandoned. Throws 408 if it has been abandoned. */
  const take = async (db: TenantDb, { id }: UploadedFile): Promise<void> => {
    if (await takePending(db, id)) return;
    throw new HttpError(408, 'request_timeout', 'The upload took too long.');
  };

  /** Adds to the usage. Throws 413 if it grows beyond the quota. */
  const count = async (db: TenantDb, added: number): Promise<void> => {
    if (added === 0) return;
    const { bytes, quota_bytes } = await addUsage(db, added);
    const quota = quotaOf(quota_bytes);
    if (added > 0 && bytes > quota) throw quotaExceeded(Math.max(0, quota - (bytes - added)));
  };

  return {
    async store(tenantId, upload, save) {
      const db = database.forTenant(tenantId);
      const id = uuidv7();
      const expiresAt = new Date(Date.now() + PENDING_MS);
      await db.transaction(async (tx) => {
        await insertPending(tx, id, expiresAt);
        await jobs.enqueue(tx, fileRemovalJob, { tenant_id: tenantId, id }, { runAt: expiresAt });
      });
      const discard = (): Promise<void> => db.transaction((tx) => giveUp(tx, id));
      try {
        return await save(await write(db, id, upload), discard);
      } catch (error) {
        // If this fails too, the job that was enqueued before the upload deletes the file.
        await discard().catch(() => undefined);
        throw error;
      }
    },

    async requireRoom(db, bytes) {
      const left = await leftOf(db);
      if (bytes > left) throw quotaExceeded(left);
    },

    async keepObject(db, file) {
      await take(db, file);
      await count(db, file.size);
    },

    async releaseObjects(db, bytes) {
      await addUsage(db, -bytes);
    },

    async refer(db, file, type, origin = 'uploaded') {
      await take(db, file);
      const { id, sha256, size, sealedKey, replaces, counted } = file;
      const content = await addContent(db, { id, sha256, size, sealedKey, replaces, type });
      if (!content.is_new) {
        if (content.object_id !== id) await remove(db, id);
        else if (replaces) await remove(db, replaces);
      }
      // Last, because all uploads of the tenant wait for each other from here on.
      await count(db, size - counted);
      if (!content.is_new || origin === 'derived') return content.id;
      for (const hook of onNewContent) await hook(db, { contentId: content.id, type, size });
      return content.id;
    },

    async referAgain(db, contentId) {
      await count(db, await addReference(db, contentId));
    },

    release,

    thumbnail: findThumbnail,

    async scanStatus(db, contentId) {
      return (await contentOf(db, contentId)).scan_status;
    },

    open: (db, contentId, range, reader = 'member') =>
      countDownload(db.tenantId, reader, () => openForReading(db, contentId, range)),

    openForReading,

    async openForScan(db, contentId) {
      return read(db, await contentOf(db, contentId));
    },
  };
};
