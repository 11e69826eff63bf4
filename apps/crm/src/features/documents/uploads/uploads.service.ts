import { Readable } from 'node:stream';
import type { JobQueue } from '@tessera/background-work/jobs';
import type { FileStore } from '@tessera/file-store';
import { detectType, HttpError, notFound, SAMPLE_BYTES } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, TenantDb } from '../../../database.ts';
import { fileUnavailable } from '../../../files/file-limits.ts';
import type { Files, UploadedFile } from '../../../files/files.ts';
import type { Caller } from '../../../http.ts';
import type { ChangedDocument, DocumentService } from '../documents.service.ts';
import { bodyParts } from './body-parts.ts';
import { offsetConflict, tooManyUnfinished, uploadBusy } from './upload-errors.ts';
import { declaredType, documentOf, refuseFields } from './upload-metadata.ts';
import { uploadRemovalJob } from './upload-removal.ts';
import {
  abandonUpload,
  appendPart,
  countUnfinished,
  endUpload,
  findUpload,
  insertUpload,
  partsFrom,
  type StoredUploadState,
  setResult,
  setSize,
  type UploadMetadata,
  type UploadPart,
} from './uploads.repository.ts';

/** An unfinished upload is deleted after this time, in milliseconds. */
export const UPLOAD_MS = 24 * 3_600_000;

/**
 * How many uploads of a caller, and of a tenant, may be unfinished. They share nothing with other tenants but the store,
 * where their bytes count towards the quota, but each has rows, objects and jobs.
 */
const UNFINISHED_OF_CALLER = 100;
const UNFINISHED_OF_TENANT = 1000;

/** How many rows of parts are read at a time. */
const SLICE = 100;

/** Identifies an upload of a caller. */
export interface UploadAddress {
  readonly caller: Caller;
  readonly id: string;
  /** The document in the path; null for uploads of new documents. */
  readonly documentId: string | null;
}

/** A new upload. */
export interface NewUpload extends UploadAddress {
  readonly metadata: UploadMetadata;
  /** Bytes; null if the client does not know them yet. */
  readonly size: number | null;
}

/** The body of a request that adds bytes to an upload. */
export interface UploadBody {
  readonly content: AsyncIterable<Uint8Array>;
  /** Throws if the caller has lost access: a body may take an hour, and joining many parts takes long, too. */
  confirmAccess(): Promise<void>;
}

/** Uploads in several requests. An upload belongs to the caller who created it; for others, it does not exist (404). */
export interface Uploads {
  /** Throws 422, 403 `folder_access_denied`, 404, 413 and 429. An upload of 0 bytes is completed at once. */
  create(upload: NewUpload): Promise<void>;
  /** Throws 404. */
  find(address: UploadAddress): Promise<StoredUploadState>;
  /** Sets a size that was not known. Throws 409 if another one is known. */
  declareSize(address: UploadAddress, size: number): Promise<void>;
  /**
   * Adds bytes at an offset, and completes the upload with the last ones; returns how many bytes it has then. Bytes
   * that arrived before an error are kept. Throws 409 if the upload does not have exactly `offset` bytes, 413 beyond
   * the quota, 423 while it is being completed, the errors of the document, and that of `confirmAccess`, which is asked
   * before anything is committed.
   */
  append(address: UploadAddress, offset: number, body: UploadBody): Promise<number>;
  /** Cancels an unfinished upload. Throws 404, and 409 if it is finished. */
  remove(address: UploadAddress): Promise<void>;
}

/** What `createUploads` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant' | 'transaction'>;
  readonly documents: DocumentService;
  readonly files: Files;
  readonly store: Pick<FileStore, 'get'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
}

type ConfirmAccess = UploadBody['confirmAccess'];

const ownerOf = ({ principal: { type, id } }: Caller): string => `${type}:${id}`;

export const createUploads = ({
  database,
  documents,
  files,
  store,
  jobs,
}: Dependencies): Uploads => {
  /** The uploads whose parts this process is joining. */
  const completing = new Set<string>();

  const find = async ({ caller, id, documentId }: UploadAddress): Promise<StoredUploadState> => {
    const found = await findUpload(database.forTenant(caller.tenantId), id, ownerOf(caller));
    if (!found || found.document_id !== documentId) throw notFound('The upload');
    return found;
  };

  /** Throws 429. Uploads that begin at the same moment may exceed the limits by their number. */
  const requireFewUnfinished = async (db: TenantDb, caller: Caller): Promise<void> => {
    const { own, all } = await countUnfinished(db, ownerOf(caller), UNFINISHED_OF_TENANT);
    if (own >= UNFINISHED_OF_CALLER) throw tooManyUnfinished('caller', UNFINISHED_OF_CALLER);
    if (all >= UNFINISHED_OF_TENANT) throw tooManyUnfinished('tenant', UNFINISHED_OF_TENANT);
  };

  const removeLater = (db: TenantDb, id: string, runAt?: Date): Promise<string> =>
    jobs.enqueue(db, uploadRemovalJob, { tenant_id: db.tenantId, id }, { ...(runAt && { runAt }) });

  /** The bytes of stored parts, in order. */
  const contentOf = async function* (
    db: TenantDb,
    uploadId: string,
    last: UploadPart | undefined,
  ): AsyncGenerator<Uint8Array> {
    const { tenantId } = db;
    let start = 0;
    const read = async function* (part: UploadPart): AsyncGenerator<Uint8Array> {
      start += part.size;
      const { id, size, sealedKey } = part;
      yield* await store.get({ tenantId, id, size, sealedKey });
    };
    for (;;) {
      const parts = await partsFrom(db, uploadId, start, SLICE);
      for (const part of parts) yield* read(part);
      if (parts.length < SLICE) break;
    }
    if (last) yield* read(last);
  };

  const typeOf = async (
    tenantId: string,
    { id, size, sealedKey }: UploadedFile,
    metadata: UploadMetadata,
  ): Promise<string> => {
    const range = { start: 0, end: Math.min(size, SAMPLE_BYTES) - 1 };
    const sample = await store
      .get({ tenantId, id, size, sealedKey }, size === 0 ? undefined : range)
      .catch((error: unknown) => {
        throw fileUnavailable(error);
      });
    const { type, content } = await detectType(sample, declaredType(metadata));
    content.destroy();
    return type;
  };

  /** Creates the document or version with the file of an upload, and ends the upload. */
  const save = async (
    caller: Caller,
    upload: StoredUploadState,
    file: UploadedFile,
    confirmAccess: ConfirmAccess,
  ): Promise<void> => {
    const { id, metadata, received: start, document_id: documentId } = upload;
    const type = await typeOf(caller.tenantId, file, metadata);
    await confirmAccess();
    const saveDocument = (): Promise<ChangedDocument> =>
      documentId === null
        ? documents.createFrom(caller, documentOf(metadata), { file, type })
        : documents.addVersionFrom(caller, { id: documentId }, { file, type });
    await database.transaction(caller.tenantId, async (db) => {
      if (!(await endUpload(db, { id, start, size: file.size }))) throw offsetConflict();
      const saved = await saveDocument();
      await setResult(db, id, saved.id);
      await removeLater(db, id);
    });
  };

  /** Completes an upload whose last part, if any, is stored but not added to it yet. */
  const complete = async (
    caller: Caller,
    upload: StoredUploadState,
    last: UploadedFile | undefined,
    confirmAccess: ConfirmAccess,
  ): Promise<void> => {
    if (last && upload.received === 0) return save(caller, upload, last, confirmAccess);
    if (completing.has(upload.id)) throw uploadBusy();
    completing.add(upload.id);
    try {
      const content = Readable.from(
        contentOf(database.forTenant(caller.tenantId), upload.id, last),
        { objectMode: false },
      );
      const announcedSize = upload.received + (last?.size ?? 0);
      const whole = { content, announcedSize, counted: upload.received };
      await files.store(caller.tenantId, whole, (file) =>
        save(caller, upload, file, confirmAccess),
      );
    } finally {
      completing.delete(upload.id);
    }
  };

  /** Stores one part of an upload and adds it; returns the state of the upload then. */
  const addPart = (
    caller: Caller,
    upload: StoredUploadState,
    { content, confirmAccess }: UploadBody,
  ): Promise<StoredUploadState> =>
    files.store(caller.tenantId, { content, announcedSize: null }, async (file, discard) => {
      await confirmAccess();
      const received = upload.received + file.size;
      if (received === upload.size) {
        const isWhole = upload.received === 0;
        await complete(caller, upload, file, confirmAccess);
        if (!isWhole) await discard();
        return { ...upload, received, ended_at: new Date() };
      }
      await database.transaction(caller.tenantId, async (db) => {
        const part = { id: file.id, size: file.size, sealedKey: file.sealedKey };
        const added = { uploadId: upload.id, start: upload.received, part };
        if (!(await appendPart(db, added))) throw offsetConflict();
        await files.keepObject(db, file);
      });
      return { ...upload, received };
    });

  return {
    find,

    async create({ caller, id, documentId, metadata, size }) {
      if (documentId === null) {
        await documents.requireCreatable(caller, documentOf(metadata).folder_id);
      } else {
        refuseFields(metadata);
        await documents.requireChangeable(caller, { id: documentId });
      }
      const db = database.forTenant(caller.tenantId);
      await files.requireRoom(db, size ?? 0);
      await requireFewUnfinished(db, caller);
      const expiresAt = new Date(Date.now() + UPLOAD_MS);
      await db.transaction(async (tx) => {
        const upload = { id, document_id: documentId, metadata, size, expires_at: expiresAt };
        await insertUpload(tx, upload, ownerOf(caller));
        await removeLater(tx, id, expiresAt);
      });
      if (size !== 0) return;
      const created = await find({ caller, id, documentId });
      await complete(caller, created, undefined, async () => undefined);
    },

    async declareSize(address, size) {
      const { caller, id } = address;
      const { received } = await find(address);
      const db = database.forTenant(caller.tenantId);
      await files.requireRoom(db, size - received);
      if (!(await setSize(db, id, size))) throw offsetConflict();
    },

    async append(address, offset, { content, confirmAccess }) {
      const { caller } = address;
      let upload = await find(address);
      if (upload.received !== offset) throw offsetConflict();
      if (upload.ended_at) return offset;
      await files.requireRoom(
        database.forTenant(caller.tenantId),
        upload.size === null ? 0 : upload.size - offset,
      );
      const parts = bodyParts(content);
      for (;;) {
        const part = await parts.next();
        if (!part) break;
        upload = await addPart(caller, upload, { content: part, confirmAccess });
      }
      const failure = parts.failure();
      if (failure !== undefined) throw failure;
      // The size may have become known only after the last byte.
      if (!upload.ended_at && upload.received === upload.size) {
        await complete(caller, upload, undefined, confirmAccess);
      }
      return upload.received;
    },

    async remove(address) {
      const { caller, id } = address;
      await find(address);
      await database.transaction(caller.tenantId, async (db) => {
        const bytes = await abandonUpload(db, id, { ifExpired: false });
        if (bytes === undefined) {
          throw new HttpError(
            409,
            'conflict',
            'The upload is finished. Delete the document instead.',
          );
        }
        if (bytes > 0) await files.releaseObjects(db, bytes);
        await removeLater(db, id);
      });
    },
  };
};

/** A new id for an upload. */
export const newUploadId = (): string => uuidv7();
