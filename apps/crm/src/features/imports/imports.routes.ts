import { setTimeout as pause } from 'node:timers/promises';
import { bool, described, oneOf, optional, shape, text, uuid, withDefault } from '@tessera/fields';
import {
  csvFile,
  csvResponse,
  type EventOf,
  type Exports,
  eventStream,
  exportHeaders,
  fileBody,
  HttpError,
  type RouteTable,
} from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { record, route } from '../../http.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { recordRoutes } from '../../records/routes.ts';
import { creationHeaders } from '../../records/versions.ts';
import { FAILURE_COLUMNS, padded, withoutEscape } from './columns.ts';
import { delimiters, encodings, SAVE_AS_CSV } from './csv.ts';
import { failureBatches } from './failures.repository.ts';
import { hasEnded } from './import-status.ts';
import {
  blankCellRules,
  duplicateRules,
  type Imports,
  importableResources,
  importKind,
} from './imports.kind.ts';
import { deleteChunks, findImport } from './imports.repository.ts';
import { MAX_FILE_BYTES, type Upload } from './upload.ts';

const POLL_MS = 500;

const Form = shape({
  resource: oneOf(...importableResources),
  duplicates: described(
    withDefault(oneOf(...duplicateRules), 'skip'),
    'What happens to a row whose record exists already: it is skipped, it updates the record, or it becomes another record. A row with the id of a record in the column `id` is that record; otherwise, contacts are compared by their e-mail addresses, primary ones first, and companies by their domains, with or without `www.`. A row that would update several records fails. One that is found by a further address leaves the addresses of the contact as they are. With `update`, columns and cells of required fields may be missing; rows that would become new records without them fail.',
  ),
  blank_cells: described(
    withDefault(oneOf(...blankCellRules), 'keep'),
    'What a blank cell does to the field of a record that the row updates: `keep` leaves the value, `clear` empties the field, unless the cell is missing at the end of the row. A row with a blank cell of a required field then fails. Fields without a column in the file keep their values, as do the addresses of a contact that is found by a further address. Blank rows are ignored. `clear` requires `duplicates=update`.',
  ),
  mapping: described(
    optional(text(20_000)),
    'A JSON object: the field of each column by its header; null ignores the column. Columns that are missing here are assigned by their names.',
    '{"E-mail": "email", "Comment": null}',
  ),
  encoding: described(
    withDefault(oneOf('auto', ...encodings), 'auto'),
    '`auto` recognises UTF-16 by its byte order mark, and otherwise reads UTF-8.',
  ),
  delimiter: described(
    withDefault(oneOf('auto', ...(Object.keys(delimiters) as (keyof typeof delimiters)[])), 'auto'),
    '`auto` takes the one that a first line such as `sep=;` names, or else the one that the header row contains most often.',
  ),
  dry_run: described(withDefault(bool(), false), 'Checks every row and changes nothing.'),
});

const params = shape({ id: uuid() });
const Progress = { progress: importKind.answer };

/** What the routes of imports use. */
interface Dependencies {
  readonly imports: Imports;
  readonly upload: Upload;
  readonly database: Pick<Database, 'forTenant'>;
  readonly exports: Exports;
}

export const importRoutes = ({ imports, upload, database, exports }: Dependencies): RouteTable => {
  const routes = recordRoutes(importKind, imports);
  return {
    listImports: routes.list(),
    exportImports: routes.export({ permission: 'imports.export', exports }),

    createImport: route({
      method: 'post',
      path: '/imports',
      permission: 'imports.create',
      resource: 'import',
      isIdempotent: true,
      summary: 'Import records from a CSV file',
      description:
        'The caller also needs the permission to create the records, and to update them if `duplicates` is `update`. The import runs in the background; those of one tenant run one after the other. Blank cells at the end of a row may be missing, unless a row above has them: such a row fails, because it is probably the footer of a report. The columns of an export can be imported as they are; rows with an `id` update or skip the record that they were exported from, unless `duplicates` is `create`. The import has the permissions that the caller has now. CRM cancels it when the caller loses one of them: rows are saved only if identity confirmed them within the last minute, and the import waits while identity does not answer. If CRM has no client at identity, an event of identity about the permissions of the caller cancels it. A file has at most 2,000 columns, a header row of 50,000 characters, and rows of 1,000,000; a cell that sets a field has at most 100,000.',
      body: fileBody({
        types: ['text/csv', 'text/plain', 'application/octet-stream'],
        maxBytes: MAX_FILE_BYTES,
        fields: Form,
        advice: SAVE_AS_CSV,
      }),
      responses: { 201: record(importKind.answer) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: {
        409: 'Too many imports have not ended, this one was cancelled meanwhile, or the permissions of the sender changed',
      },
      handler: async ({ caller, body: { content, name, fields }, req, reply, commitUpload }) => {
        const announced = Number(req.headers['content-length'] ?? Number.NaN);
        const announcedBytes = Number.isNaN(announced) ? undefined : announced;
        const request = { ...fields, file_name: name, announcedBytes };
        const stored = await upload(caller, request, content);
        const start = async () => {
          const created = await stored.start();
          return reply(201, { data: created.answer }, creationHeaders(req, created));
        };
        try {
          return await commitUpload(start, stored.discard);
        } catch (error) {
          // The import of another upload with this key is the one that the sender knows.
          const isRepeated =
            error instanceof HttpError && error.code.startsWith('idempotency_key_');
          await (isRepeated ? stored.discard() : stored.fail());
          throw error;
        }
      },
    }),

    getImport: routes.get(),

    streamImport: route({
      method: 'get',
      path: '/imports/{id}/stream',
      permission: 'imports.view',
      resource: 'import',
      summary: 'Follow the progress of an import',
      description: 'Sends the import whenever it has changed, and ends with the import.',
      params,
      responses: { 200: eventStream(Progress) },
      handler: async ({ caller, params: { id }, reply }) => {
        let { answer, version } = await imports.get(caller, id);
        return reply(200, async function* (signal): AsyncGenerator<EventOf<typeof Progress>> {
          yield { event: 'progress', data: answer };
          while (!hasEnded(answer) && !signal.aborted) {
            await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
            const known = version;
            ({ answer, version } = await imports.get(caller, id));
            if (version !== known) yield { event: 'progress', data: answer };
          }
        });
      },
    }),

    exportImportFailures: route({
      method: 'get',
      path: '/imports/{id}/failures',
      permission: 'imports.view',
      resource: 'import',
      summary: 'Download the failed rows of an import',
      description:
        'CSV with the columns of the file, and before them the number of the row and its errors. Once corrected, it can be imported as it is. Also requires the permission to view the records that were imported, such as `contacts.view`.',
      params,
      responses: { 200: csvResponse },
      responseHeaders: exportHeaders,
      handler: async ({ caller, params: { id }, reply }) => {
        const { answer } = await imports.get(caller, id);
        requirePermission(caller, `${answer.resource}.view`, { type: 'import', id });
        const db = database.forTenant(caller.tenantId);
        const found = await findImport(db, id);
        const header = found?.header ?? [];
        // A corrected file of failed rows has these columns already.
        const isOwn = header.map(
          (name) =>
            !FAILURE_COLUMNS.includes(name.trim()) ||
            Object.hasOwn(found?.mapping ?? {}, name.trim()),
        );
        const own = <T>(items: readonly T[]): T[] => items.filter((_item, at) => isOwn[at] ?? true);
        const batches = async function* () {
          for await (const rows of failureBatches(db, id, (read) =>
            exports.read(db.tenantId, read),
          )) {
            yield rows.map(({ row_number, errors, cells }) => [
              row_number,
              errors.join('; '),
              ...own(padded(cells, header.length)).map(withoutEscape),
            ]);
          }
        };
        const columns = [...FAILURE_COLUMNS, ...own(header)];
        const counted = exports.counted(caller.principal.id, batches());
        return reply(200, ...csvFile('failures', columns, counted));
      },
    }),

    cancelImport: routes.action({
      name: 'cancel',
      summary: 'Cancel an import',
      description: 'The rows that have been processed stay as they are.',
      problems: { 409: 'The import has ended already' },
      rule: async ({ row, db }) => {
        if (hasEnded(row)) throw new HttpError(409, 'conflict', 'The import has ended already.');
        await deleteChunks(db, row.id);
        return { status: 'cancelled', finished_at: new Date() };
      },
    }),

    deleteImport: routes.delete({
      description: 'Its failed rows are deleted for good; otherwise they are kept for 30 days.',
      problems: { 409: 'The import has not ended yet' },
    }),
    restoreImport: routes.restore(),
    listImportHistory: routes.history(),
  };
};
