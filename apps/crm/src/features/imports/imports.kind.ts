import {
  bool,
  described,
  int,
  mapOf,
  named,
  nullable,
  oneOf,
  rawText,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { principalOf, type StoredPrincipal } from '../../absent-callers/stored-principal.ts';
import { equals, timeSort } from '../../records/filters.ts';
import { answerOf, declareKind, type TypesOf } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden, hiddenJson } from '../../records/row.ts';
import { delimiters, encodings } from './csv.ts';
import { deleteFailures } from './failures.repository.ts';
import { hasEnded, importStatuses } from './import-status.ts';

export const importableResources = ['contacts', 'companies'] as const;
export type ImportableResource = (typeof importableResources)[number];

/** What happens to a row whose record exists already, by id, e-mail address or domain. */
export const duplicateRules = ['skip', 'update', 'create'] as const;

/** What a blank cell of an assigned column does to the field of a record that is updated. */
export const blankCellRules = ['keep', 'clear'] as const;

/** CSV header -> field; null ignores the column. */
export const mapping = described(
  nullable(mapOf(nullable(text(100)))),
  'The field of each column by its header; null ignores the column. Columns that are missing here are assigned by their names; columns without a header must be empty.',
  { 'E-mail': 'email', Comment: null },
);

const ImportInput = shape({
  resource: oneOf(...importableResources),
  file_name: nullable(rawText(255)),
  encoding: oneOf(...encodings),
  delimiter: oneOf(...(Object.keys(delimiters) as (keyof typeof delimiters)[])),
  mapping,
  duplicates: oneOf(...duplicateRules),
  blank_cells: oneOf(...blankCellRules),
  dry_run: bool(),
});

const rows = (description: string) => described(int(0, 2 ** 31 - 1), description);

const Import = answerOf('Import', ImportInput, {
  status: oneOf(...importStatuses),
  file_size: described(
    int(0, Number.MAX_SAFE_INTEGER),
    'Bytes; until the upload is complete, the most that it can be',
  ),
  rows_read: rows('Rows that have been processed, without the header'),
  rows_created: rows('Rows that became new records'),
  rows_updated: rows('Rows that changed a record'),
  rows_skipped: rows(
    'Rows that changed nothing: with `skip`, those whose record exists already or is that of an earlier row; with `update`, those whose record has all of their values',
  ),
  rows_failed: rows('Rows with errors; `GET .../failures` lists them'),
  error: described(nullable(text(1000)), 'Why the import failed as a whole, or was cancelled'),
  user_id: nullable(uuid()),
  finished_at: nullable(time()),
});

/** An import of a CSV file. Its file is sent to `POST /imports`; it runs in the background. */
export const importKind = declareKind({
  table: 'imports',
  name: 'import',
  permissions: 'imports',
  create: named('ImportInput', ImportInput),
  update: shape({}),
  answer: Import,
  hidden: { principal: hiddenJson<StoredPrincipal>(), header: hidden<readonly string[]>() },
  sort: { created_at: timeSort.created_at },
  defaultSort: '-created_at',
  filters: {
    resource: equals('resource', oneOf(...importableResources)),
    status: equals('status', oneOf(...importStatuses)),
  },
  rules: {
    create: (_input, { caller }) => ({
      user_id: caller.userUuid,
      principal: principalOf(caller),
    }),
    async delete({ row, db }) {
      if (!hasEnded(row)) throw new HttpError(409, 'conflict', 'The import has not ended yet.');
      await deleteFailures(db, row.id);
    },
  },
});

export type Imports = RecordsOf<typeof importKind>;
export type ImportRow = TypesOf<typeof importKind>['row'];
