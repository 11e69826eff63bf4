import type { JobQueue } from '@tessera/background-work/jobs';
import { shape, validate } from '@tessera/fields';
import { HttpError, invalidField, validationFailed } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf } from '../../records/kind.ts';
import type { Versioned } from '../../records/records.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { assignColumns, type Mapping } from './columns.ts';
import {
  type CsvFormat,
  type Delimiter,
  decode,
  detectDelimiter,
  detectEncoding,
  type Encoding,
  readHeader,
  requireTable,
  UnreadableFile,
} from './csv.ts';
import { mustRunAtOnce } from './import-run.ts';
import {
  type ImportableResource,
  type ImportRow,
  type Imports,
  type importKind,
  mapping as mappingField,
} from './imports.kind.ts';
import {
  CHUNK_BYTES,
  countWaitingFiles,
  failUpload,
  removeImport,
  reserveBytes,
  writeChunk,
} from './imports.repository.ts';
import { importJob, uploadExpiryJob } from './run-import.ts';
import type { UploadSender, UploadSenders } from './sender-access.ts';
import { type ImportTarget, importTargets } from './targets.ts';

/** An upload that has not ended by then was interrupted. */
const UPLOAD_EXPIRY_MS = 2 * 3600_000;

/** How many files of a tenant may wait for their import or be imported, and how many bytes. */
const MAX_WAITING_FILES = 20;
const MAX_WAITING_BYTES = 1024 ** 3;

/** The largest file in bytes. */
export const MAX_FILE_BYTES = 256 * 1024 ** 2;

/** What the sender of a file says about it. */
export interface ImportRequest {
  readonly resource: ImportableResource;
  readonly encoding: Encoding | 'auto';
  readonly delimiter: Delimiter | 'auto';
  /** JSON text. */
  readonly mapping?: string;
  readonly duplicates: ImportRow['duplicates'];
  readonly blank_cells: ImportRow['blank_cells'];
  readonly dry_run: boolean;
  readonly file_name: string | null;
  /** The most bytes that the file can have; undefined if the client has not announced it. */
  readonly announcedBytes: number | undefined;
}

/** Reads the `mapping` of a form. Throws 422. */
const readMapping = (json: string | undefined): Mapping | null => {
  if (json === undefined) return null;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalidField('mapping', 'mapping must be a JSON object');
  }
  const checked = validate(shape({ mapping: mappingField }), { mapping: value });
  if (!checked.ok) throw validationFailed(checked.errors);
  return checked.value.mapping;
};

const requirePermissions = (
  caller: Caller,
  { permissions }: ImportTarget,
  duplicates: ImportRequest['duplicates'],
): void => {
  const resource = { type: 'import', id: null };
  requirePermission(caller, permissions.create, resource);
  if (duplicates === 'update') requirePermission(caller, permissions.update, resource);
};

/** 409 if a file of this size would be too much for the tenant. */
const requireRoom = async (db: TenantDb, size: number): Promise<void> => {
  const { files, bytes } = await countWaitingFiles(db);
  if (files < MAX_WAITING_FILES && bytes + size <= MAX_WAITING_BYTES) return;
  const message =
    files < MAX_WAITING_FILES
      ? 'The files of imports that have not ended would be larger than 1 GiB together.'
      : `${MAX_WAITING_FILES} imports have not ended.`;
  throw new HttpError(409, 'conflict', `${message} Wait until one ends, or cancel one.`);
};

/** Joins the parts of a stream to chunks of `CHUNK_BYTES`, the last one excepted. */
async function* chunksOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const part of content) {
    parts.push(part);
    size += part.length;
    if (size < CHUNK_BYTES) continue;
    const all = Buffer.concat(parts, size);
    let start = 0;
    for (; size - start >= CHUNK_BYTES; start += CHUNK_BYTES) {
      yield all.subarray(start, start + CHUNK_BYTES);
    }
    parts = [all.subarray(start)];
    size -= start;
  }
  if (size > 0) yield Buffer.concat(parts, size);
}

/** Detects the format, and checks the header. Throws 422 that names the field. */
const inspect = async (
  db: TenantDb,
  start: Buffer,
  request: ImportRequest,
  mapping: Mapping | null,
): Promise<CsvFormat & { readonly header: readonly string[] }> => {
  try {
    const encoding = request.encoding === 'auto' ? detectEncoding(start) : request.encoding;
    const { value: beginning = '' } = await decode([start], encoding).next();
    requireTable(beginning);
    const delimiter = request.delimiter === 'auto' ? detectDelimiter(beginning) : request.delimiter;
    const header = readHeader(beginning, delimiter);
    const rowShape = await importTargets[request.resource].rowShape(db, request.duplicates);
    const assigned = assignColumns(rowShape, header, mapping ?? {});
    if (!assigned.ok) throw invalidField(assigned.field, assigned.message);
    return { encoding, delimiter, header: assigned.names };
  } catch (error) {
    // The message of a field has no full stop, and that of an import has one.
    if (error instanceof UnreadableFile) {
      throw invalidField('file', error.message.replace(/\.$/, ''));
    }
    throw error;
  }
};

/** A file that was stored completely. */
export interface StoredUpload {
  /** Enqueues its import, and returns that. Throws 409 if it was cancelled while it was uploaded. */
  start(): Promise<Versioned<AnswerOf<typeof importKind>>>;
  /** Ends its import as failed, if it has not started. */
  fail(): Promise<void>;
  /** Removes it, and its import. */
  discard(): Promise<void>;
}

/**
 * Stores a file. Throws 403 if the caller may not create the records, or not update them where `duplicates` is
 * `update`; 409 if too many files are waiting; 422 names what is wrong with the form or the file's header.
 */
export type Upload = (
  caller: Caller,
  request: ImportRequest,
  content: AsyncIterable<Buffer>,
) => Promise<StoredUpload>;

interface Dependencies {
  readonly imports: Imports;
  readonly database: Pick<Database, 'forTenant' | 'transaction'>;
  readonly jobs: JobQueue;
  readonly senders: UploadSenders;
}

const lostAccess = (): HttpError =>
  new HttpError(
    409,
    'conflict',
    'Your permissions changed during the upload: send the file again.',
  );

/** Returns a function that stores a file; its import starts only if the sender has kept access meanwhile. */
const storing =
  ({ imports, database, jobs }: Dependencies) =>
  async (
    caller: Caller,
    request: ImportRequest,
    content: AsyncIterable<Buffer>,
    sender: UploadSender,
  ): Promise<StoredUpload> => {
    const { resource, duplicates, blank_cells, dry_run, file_name } = request;
    requirePermissions(caller, importTargets[resource], duplicates);
    if (blank_cells === 'clear' && duplicates !== 'update') {
      throw invalidField('blank_cells', 'blank_cells can only be clear if duplicates is update');
    }
    const mapping = readMapping(request.mapping);
    const db = database.forTenant(caller.tenantId);
    const chunks = chunksOf(content);
    const { value: first } = await chunks.next();
    if (!first) throw invalidField('file', 'file is empty');
    const { encoding, delimiter, header } = await inspect(db, first, request, mapping);
    const format = { encoding, delimiter, mapping };
    const input = { resource, file_name, ...format, duplicates, blank_cells, dry_run };
    const reserved = Math.min(request.announcedBytes ?? MAX_FILE_BYTES, MAX_FILE_BYTES);
    const payload = await database.transaction(caller.tenantId, async (tx) => {
      await requireRoom(tx, reserved);
      const { id: import_id } = await imports.create(caller, input);
      await reserveBytes(tx, import_id, reserved);
      const runAt = new Date(Date.now() + UPLOAD_EXPIRY_MS);
      const expiring = { tenant_id: caller.tenantId, import_id };
      // In one transaction, so that no import whose upload was interrupted stays for ever.
      await jobs.enqueue(tx, uploadExpiryJob, expiring, { runAt });
      return expiring;
    });
    const { import_id: id } = payload;
    const fail = (): Promise<void> => failUpload(db, id);
    let size = first.length;
    try {
      await writeChunk(db, id, 0, first);
      let number = 1;
      for await (const chunk of chunks) {
        await writeChunk(db, id, number, chunk);
        size += chunk.length;
        number += 1;
      }
    } catch (error) {
      await fail();
      throw error;
    }
    const start = {
      name: 'start',
      rule: async ({ db: tx, row }: { db: typeof db; row: ImportRow }) => {
        // Now that its import can be found, later events cancel it.
        if (sender.hasLostAccess) throw lostAccess();
        if (row.status !== 'uploading') {
          throw new HttpError(409, 'conflict', 'The import was cancelled while it was uploaded.');
        }
        // What cannot leave its place must not have the one of imports that have just begun.
        const isContinuation = mustRunAtOnce({ dry_run, duplicates });
        await jobs.enqueue(tx, importJob, payload, { key: caller.tenantId, isContinuation });
        return { status: 'pending' as const, file_size: size, header };
      },
    };
    return {
      async start() {
        await imports.act(caller, id, start, undefined);
        return imports.get(caller, id);
      },
      fail,
      discard: () => removeImport(db, id),
    };
  };

export const createUpload = (dependencies: Dependencies): Upload => {
  const store = storing(dependencies);
  return async (caller, request, content) => {
    const sender = dependencies.senders.add(caller);
    const stored = await store(caller, request, content, sender).catch((error: unknown) => {
      sender.end();
      throw error;
    });
    return {
      start: () => stored.start().finally(() => sender.end()),
      fail: () => stored.fail().finally(() => sender.end()),
      discard: () => stored.discard().finally(() => sender.end()),
    };
  };
};
