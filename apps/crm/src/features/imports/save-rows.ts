import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { separately } from '../../records/savepoint.ts';
import type { RowFields } from './columns.ts';
import type { FailedRow } from './failures.repository.ts';
import type { ImportRow } from './imports.kind.ts';
import type { RowCounts } from './imports.repository.ts';
import type { SeenValues } from './seen-values.ts';
import type { ImportTarget } from './targets.ts';

/** A row of the file whose input is valid. */
export interface ValidRow {
  readonly row_number: number;
  readonly cells: readonly string[];
  readonly input: RowFields;
  /** The names of the fields that the row sets. */
  readonly given: readonly string[];
}

/** The results of valid rows. */
export interface SavedRows {
  readonly counts: Pick<RowCounts, 'rows_created' | 'rows_updated' | 'rows_skipped'>;
  readonly failures: readonly FailedRow[];
  /** The values by which later rows recognise the records that were created. */
  readonly createdValues: readonly string[];
}

/** Where rows are saved, and how. */
export interface Destination {
  /** A transaction. */
  readonly db: TenantDb;
  readonly caller: Caller;
  readonly target: ImportTarget;
  readonly duplicates: ImportRow['duplicates'];
  /** In a dry run, the values of records that earlier rows would have created; undefined otherwise. */
  readonly dryRunValues: SeenValues | undefined;
}

/** The errors of an input that a constraint or a rule rejects; throws any other error. */
const reasonsOf = (error: unknown): readonly string[] => {
  if (!(error instanceof HttpError) || error.status >= 500) throw error;
  return error.errors ? Object.values(error.errors).flat() : [error.message];
};

/** Runs `work`; if it is rejected, undoes it and returns the reasons. */
const attempt = async (
  db: TenantDb,
  work: () => Promise<void>,
): Promise<readonly string[] | undefined> => {
  try {
    await separately(db, work);
    return undefined;
  } catch (error) {
    return reasonsOf(error);
  }
};

/** A row whose record exists, unless it is one that an earlier row of the batch creates: that may fail. */
interface PossibleDuplicate {
  readonly row: ValidRow;
  readonly value: string;
}

interface Update {
  readonly row: ValidRow;
  readonly id: string;
}

/** Runs work on rows; returns why it is rejected, if it is. */
type Work<R> = (rows: readonly R[]) => Promise<readonly string[] | undefined>;

/**
 * Runs work on all rows at once. If it is rejected, the halves are tried, and so on, to find the rows that are the
 * reason.
 */
const inHalves = async <R>(
  rows: readonly R[],
  work: Work<R>,
  fail: (row: R, errors: readonly string[]) => void,
): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  const errors = await work(rows);
  if (!errors) return;
  if (rows.length === 1) {
    fail(first, errors);
    return;
  }
  const middle = Math.ceil(rows.length / 2);
  await inHalves(rows.slice(0, middle), work, fail);
  await inHalves(rows.slice(middle), work, fail);
};

const changeOf = ({ input, given }: ValidRow): object =>
  Object.fromEntries(given.map((name) => [name, input[name]]));

/**
 * Saves rows as records, in the given transaction. Rows that a constraint or a rule rejects are returned as
 * failures, and do not affect the others.
 */
export const saveRows = async (
  { db, caller, target, duplicates, dryRunValues }: Destination,
  rows: readonly ValidRow[],
): Promise<SavedRows> => {
  const duplicateValue = ({ input }: ValidRow): string | undefined => {
    const value = input[target.duplicateField];
    return duplicates !== 'create' && typeof value === 'string' ? value : undefined;
  };
  const values = rows.map(duplicateValue).filter((value) => value !== undefined);
  const ids = values.length > 0 ? await target.findExisting(db, values) : new Map<string, string>();

  // Before any savepoint: after a rejected row, the others are tried in the order of the file.
  if (duplicates === 'update') await target.lock(db, caller, [...ids.values()]);
  // Rows that may update records are valid without them.
  const required = duplicates === 'update' ? await target.requiredOfNew(db) : [];
  const failures: FailedRow[] = [];
  const fail = ({ row_number, cells }: ValidRow, errors: readonly string[]): void => {
    failures.push({ row_number, cells, errors });
  };

  const creates: ValidRow[] = [];
  const possibleDuplicates: PossibleDuplicate[] = [];
  const pending = new Set<string>();
  let skipped = 0;
  for (const row of rows) {
    const value = duplicateValue(row);
    const isKnown =
      value !== undefined && (ids.has(value) || pending.has(value) || dryRunValues?.has(value));
    const missing = isKnown ? [] : required.filter((name) => row.input[name] === undefined);
    if (missing.length > 0) {
      fail(
        row,
        missing.map((name) => `${name} is required`),
      );
    } else if (!isKnown) {
      creates.push(row);
      if (value !== undefined) pending.add(value);
    } else if (duplicates === 'update' || !(ids.has(value) || dryRunValues?.has(value))) {
      possibleDuplicates.push({ row, value });
    } else {
      skipped += 1;
    }
  }

  let created = 0;
  const create: Work<ValidRow> = (some) =>
    attempt(db, async () => {
      const inputs = some.map(({ input }) => input);
      for (const [index, id] of (await target.create(db, caller, inputs)).entries()) {
        const row = some[index];
        const value = row && duplicateValue(row);
        if (value !== undefined) ids.set(value, id);
      }
      created += some.length;
    });
  let updated = 0;
  const update: Work<Update> = (some) =>
    attempt(db, async () => {
      const changes = some.map(({ id, row }) => ({ id, change: changeOf(row) }));
      await target.update(db, caller, changes);
      updated += some.length;
    });

  await inHalves(creates, create, fail);
  let remaining: readonly PossibleDuplicate[] = possibleDuplicates;
  while (remaining.length > 0) {
    const updates: Update[] = [];
    const later: PossibleDuplicate[] = [];
    const taken = new Set<string>();
    for (const duplicate of remaining) {
      const { row, value } = duplicate;
      const id = ids.get(value);
      if (id && duplicates === 'skip') skipped += 1;
      else if (!id && dryRunValues?.has(value)) updated += 1;
      // A statement changes a record once, and rows about one record are saved in their order.
      else if (taken.has(value)) later.push(duplicate);
      else {
        taken.add(value);
        if (id) updates.push({ row, id });
        else await inHalves([row], create, fail);
      }
    }
    await inHalves(updates, update, ({ row }, errors) => fail(row, errors));
    remaining = later;
  }
  return {
    counts: { rows_created: created, rows_updated: updated, rows_skipped: skipped },
    failures,
    createdValues: [...pending].filter((value) => ids.has(value)),
  };
};
