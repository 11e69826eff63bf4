import type { FairPool } from '@tessera/database-kit';
import { createTenantDbs } from '@tessera/database-kit';
import { createLogger } from '@tessera/http-kit';
import type { Database, TenantDb } from '../database.ts';
import { importKind } from '../features/imports/imports.kind.ts';
import { CHUNK_BYTES, writeChunk } from '../features/imports/imports.repository.ts';
import { importHandler } from '../features/imports/run-import.ts';
import type { Caller } from '../http.ts';
import { createRecords } from '../records/records.ts';
import { callerIn } from './records.ts';

/** How an import runs. */
export interface ImportOptions {
  readonly caller?: Caller;
  readonly timeLimit?: number;
  readonly maxFailures?: number;
  /** How many rows an interrupted attempt has read. */
  readonly rowsRead?: number;
  /** Aborted when the process stops. */
  readonly stopping?: AbortSignal;
}

interface StartedImport {
  readonly id: string;
  readonly db: TenantDb;
  /** Resolves when the import has ended. */
  readonly ended: Promise<void>;
}

/** Creates an import of contacts, of a file with these rows, and starts it. */
export const startImport = async (
  { database, pool }: { readonly database: Database; readonly pool: FairPool },
  header: string,
  rows: readonly string[],
  { caller = callerIn(), timeLimit, maxFailures, rowsRead = 0, stopping }: ImportOptions = {},
): Promise<StartedImport> => {
  const { id } = await createRecords(importKind, database).create(caller, {
    resource: 'contacts',
    file_name: null,
    encoding: 'utf-8',
    delimiter: 'comma',
    mapping: null,
    duplicates: 'create',
    blank_cells: 'keep',
    dry_run: false,
  });
  const db = database.forTenant(caller.tenantId);
  const file = Buffer.from(`${header}\n${rows.join('\n')}\n`);
  for (let start = 0; start < file.length; start += CHUNK_BYTES) {
    await writeChunk(db, id, start / CHUNK_BYTES, file.subarray(start, start + CHUNK_BYTES));
  }
  await pool.query(
    "UPDATE tenant_crm.imports SET status = 'pending', rows_read = $2 WHERE id = $1",
    [id, rowsRead],
  );
  const { signal } = new AbortController();
  const handler = importHandler({
    database: { forTenant: createTenantDbs(pool, { ...(timeLimit && { timeLimit }) }) },
    access: {
      canAskRights: false,
      rightsOf: () => Promise.reject(new Error('There is no identity in these tests.')),
    },
    logger: createLogger('crm', 'silent'),
    jobs: { enqueue: () => Promise.reject(new Error('There is no queue in these tests.')) },
    ...(maxFailures && { maxFailures }),
  });
  const ended = handler.handle({ tenant_id: caller.tenantId, import_id: id } as never, {
    id: crypto.randomUUID(),
    attempt: 1,
    signal,
    stopping: stopping ?? signal,
    othersWait: async () => false,
  });
  return { id, db, ended: Promise.resolve(ended) };
};
