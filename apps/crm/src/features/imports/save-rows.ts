import { isUuid } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { attempt, inHalves, type Work } from './attempts.ts';
import type { RowFields } from './columns.ts';
import type { Match, RowKeys } from './existing-records.ts';
import type { FailedRow } from './failures.repository.ts';
import type { ImportRow } from './imports.kind.ts';
import type { RowCounts } from './imports.repository.ts';
import { lockMatches } from './locked-matches.ts';
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
  /** The values by which later rows recognise the records that were created, or got them. */
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

/** A row whose record exists, unless it is one that an earlier row of the batch saves: that may fail. */
interface PossibleDuplicate {
  readonly row: ValidRow;
  readonly match: Match | undefined;
}

interface Update {
  readonly row: ValidRow;
  readonly id: string;
  readonly change: object;
}

/** The input without the id, which a new record does not take from the file. */
const withoutId = ({ id: _id, ...input }: RowFields): RowFields => input;

/**
 * Saves rows as records, in the given transaction. Rows that a constraint or a rule rejects are returned as
 * failures, and do not affect the others.
 */
export const saveRows = async (
  { db, caller, target, duplicates, dryRunValues }: Destination,
  rows: readonly ValidRow[],
): Promise<SavedRows> => {
  const { field, alsoIn } = target.identity;
  const keysOf = ({ input }: ValidRow): RowKeys => {
    if (duplicates === 'create') return { id: undefined, value: undefined };
    const { id, [field]: value } = input;
    const text = typeof id === 'string' ? id.trim().toLowerCase() : '';
    return {
      id: isUuid(text) ? text : undefined,
      value: typeof value === 'string' ? value : undefined,
    };
  };
  const keys = rows.map(keysOf);
  const valuesOfRows = new Map(rows.map((row, index) => [row, keys[index]?.value]));
  // Before other savepoints: after a rejected row, the others are tried in the order of the file.
  const matchOf =
    duplicates === 'update'
      ? await lockMatches({ db, caller, target }, keys)
      : await target.findExisting(db, keys);
  // Rows that may be those of records are valid without some fields; others have been checked.
  const problemsOfNew =
    duplicates === 'create' ? (): readonly string[] => [] : await target.newRecordCheck(db);
  const failures: FailedRow[] = [];
  const fail = ({ row_number, cells }: ValidRow, errors: readonly string[]): void => {
    failures.push({ row_number, cells, errors });
  };
  const wasInDryRun = (value: string | undefined): boolean =>
    value !== undefined && (dryRunValues?.has(value) ?? false);

  const creates: ValidRow[] = [];
  const possibleDuplicates: PossibleDuplicate[] = [];
  const pending = new Set<string>();
  let skipped = 0;
  for (const [index, row] of rows.entries()) {
    const { id, value } = keys[index] as RowKeys;
    const match = matchOf({ id, value });
    const isPending = value !== undefined && pending.has(value);
    const isKnown = match !== undefined || isPending || wasInDryRun(value);
    const problems = isKnown ? [] : problemsOfNew(row.input);
    if (problems.length > 0) {
      fail(row, problems);
    } else if (match?.isOneOfSeveral && duplicates === 'update') {
      fail(row, [target.severalMessage]);
    } else if (!isKnown) {
      creates.push(row);
      if (value !== undefined) pending.add(value);
    } else if (duplicates === 'update' || !(match || wasInDryRun(value))) {
      possibleDuplicates.push({ row, match });
      // The record gets it, so it is also that of a later row with this value.
      if (match && value !== undefined) pending.add(value);
    } else {
      skipped += 1;
    }
  }

  /** The records that rows have been saved in, by the value. */
  const saved = new Map<string, string>();
  let created = 0;
  const create: Work<ValidRow> = (some) =>
    attempt(db, async () => {
      const inputs = some.map(({ input }) => withoutId(input));
      for (const [index, id] of (await target.create(db, caller, inputs)).entries()) {
        const row = some[index];
        const value = row && valuesOfRows.get(row);
        if (value !== undefined) saved.set(value, id);
      }
      created += some.length;
    });
  let updated = 0;
  const update: Work<Update> = (some) =>
    attempt(db, async () => {
      const changed = await target.update(db, caller, some);
      for (const { id, row } of some) {
        const value = valuesOfRows.get(row);
        if (value !== undefined) saved.set(value, id);
      }
      updated += changed.length;
      skipped += some.length - changed.length;
    });
  /** A record that only `isAlso` says is that of the row keeps what says so. */
  const changeOf = ({ input, given }: ValidRow, match: Match | undefined): object => {
    const kept = match?.isAlso ? ['id', field, ...alsoIn] : ['id'];
    const changed = given.filter((name) => !kept.includes(name));
    return Object.fromEntries(changed.map((name) => [name, input[name]]));
  };

  await inHalves(creates, create, fail);
  let remaining: readonly PossibleDuplicate[] = possibleDuplicates;
  while (remaining.length > 0) {
    const updates: Update[] = [];
    const later: PossibleDuplicate[] = [];
    const taken = new Set<string>();
    for (const duplicate of remaining) {
      const { row, match } = duplicate;
      const value = valuesOfRows.get(row);
      const id = match?.id ?? (value === undefined ? undefined : saved.get(value));
      const keysOfRow = [id, value].filter((one) => one !== undefined);
      if (id && duplicates === 'skip') skipped += 1;
      else if (!id && wasInDryRun(value)) updated += 1;
      else {
        // A statement changes a record once, and rows about one record are saved in their order.
        const isTaken = keysOfRow.some((one) => taken.has(one));
        for (const one of keysOfRow) taken.add(one);
        if (isTaken) later.push(duplicate);
        else if (id) updates.push({ row, id, change: changeOf(row, match) });
        else {
          // Unlike the earlier row, which failed, it may lack what a new record requires.
          const problems = problemsOfNew(row.input);
          if (problems.length > 0) fail(row, problems);
          else await inHalves([row], create, fail);
        }
      }
    }
    await inHalves(updates, update, ({ row }, errors) => fail(row, errors));
    remaining = later;
  }
  return {
    counts: { rows_created: created, rows_updated: updated, rows_skipped: skipped },
    failures,
    createdValues: [...pending].filter((value) => saved.has(value)),
  };
};
