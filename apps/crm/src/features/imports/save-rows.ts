import { setImmediate } from 'node:timers/promises';
import type { FieldErrors } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { attempt, inHalves, type Work } from './attempts.ts';
import { BatchRecords } from './batch-records.ts';
import type { ErrorMessages } from './columns.ts';
import type { Match } from './existing-records.ts';
import type { FailedRow } from './failures.repository.ts';
import type { ImportRow } from './imports.kind.ts';
import type { RowCounts } from './imports.repository.ts';
import { lockMatches } from './locked-matches.ts';
import { marksOf, type RowMarks } from './row-marks.ts';
import type { RowFields } from './row-reader.ts';
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
  /** The marks of the records that were created or changed. */
  readonly savedMarks: readonly string[];
}

/** Where rows are saved, and how. */
export interface Destination {
  /** A transaction. */
  readonly db: TenantDb;
  readonly caller: Caller;
  readonly target: ImportTarget;
  readonly duplicates: ImportRow['duplicates'];
  readonly messagesOf: ErrorMessages;
  /** In a dry run, the marks of records that earlier rows would have created or changed; undefined otherwise. */
  readonly dryRunMarks: SeenValues | undefined;
}

/** A row with what it is recognised by, and the record that the database shows for it. */
interface RecognisedRow {
  readonly row: ValidRow;
  readonly marks: RowMarks;
  readonly match: Match | undefined;
}

interface Update extends RecognisedRow {
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
  { db, caller, target, duplicates, messagesOf, dryRunMarks }: Destination,
  rows: readonly ValidRow[],
): Promise<SavedRows> => {
  const { field, alsoIn } = target.identity;
  const marks = rows.map(({ input }) => marksOf(target.identity, duplicates, input));
  const keys = marks.map((one) => one.keys);
  // Before other savepoints: after a rejected row, the others are tried in the order of the file.
  const matchOf =
    duplicates === 'update'
      ? await lockMatches({ db, caller, target }, keys)
      : await target.findExisting(db, keys);
  // Rows that may be those of records are valid without some fields; others have been checked.
  const problemsOfNew =
    duplicates === 'create' ? (): FieldErrors => ({}) : await target.newRecordCheck(db);
  const failures: FailedRow[] = [];
  const fail = ({ row: { row_number, cells } }: RecognisedRow, errors: FieldErrors): void => {
    failures.push({ row_number, cells, errors: messagesOf(errors) });
  };
  const several: FieldErrors = { row: [target.severalMessage] };
  const isFaulty = (errors: FieldErrors): boolean => Object.keys(errors).length > 0;

  const records = new BatchRecords(dryRunMarks);
  const creates: RecognisedRow[] = [];
  /** Rows whose record exists, unless it is one that an earlier row of the batch saves: that may fail. */
  const possibleDuplicates: RecognisedRow[] = [];
  let skipped = 0;
  for (const [index, row] of rows.entries()) {
    const own = marks[index] as RowMarks;
    const recognised: RecognisedRow = { row, marks: own, match: matchOf(own.keys) };
    const exists = recognised.match !== undefined || records.isInDryRun(own);
    if (exists && duplicates !== 'update') {
      skipped += 1;
      continue;
    }
    const isKnown = exists || records.isExpected(own);
    const problems = isKnown ? {} : problemsOfNew(row.input);
    if (isFaulty(problems)) {
      fail(recognised, problems);
      continue;
    }
    (isKnown ? possibleDuplicates : creates).push(recognised);
    records.expect(own);
  }

  let created = 0;
  const create: Work<RecognisedRow> = (some) =>
    attempt(db, async () => {
      const inputs = some.map(({ row }) => withoutId(row.input));
      const ids = await target.create(db, caller, inputs);
      for (const [index, { row, marks: own }] of some.entries()) {
        records.add(row.row_number, own, ids[index] as string);
      }
      created += some.length;
    });
  let updated = 0;
  const update: Work<Update> = (some) =>
    attempt(db, async () => {
      const changed = await target.update(db, caller, some);
      for (const { row, marks: own, match, id } of some) {
        if (!match?.isAlso) records.add(row.row_number, own, id);
      }
      updated += changed.length;
      skipped += some.length - changed.length;
    });
  /** A record that only `isAlso` says is that of the row keeps what says so. */
  const changeOf = ({ input, given }: ValidRow, { isAlso }: Match): object => {
    const kept = isAlso ? ['id', field, ...alsoIn] : ['id'];
    const changed = given.filter((name) => !kept.includes(name));
    return Object.fromEntries(changed.map((name) => [name, input[name]]));
  };

  await inHalves(creates, create, fail);
  let remaining: readonly RecognisedRow[] = possibleDuplicates;
  while (remaining.length > 0) {
    const updates: Update[] = [];
    const later: RecognisedRow[] = [];
    const taken = new Set<string>();
    for (const duplicate of remaining) {
      const { row, marks: own } = duplicate;
      const found = records.find(row.row_number, own, duplicate.match);
      const id = found?.id;
      if (found && duplicates === 'skip') skipped += 1;
      else if (!found && records.isInDryRun(own)) {
        records.addInDryRun(own);
        updated += 1;
      } else if (found?.isOneOfSeveral && !found.isAlso) {
        // No other row of the batch can change that.
        fail(duplicate, several);
      } else {
        // A statement changes a record once, and rows about one record are saved in their order.
        const isTaken = [id ?? '', ...own.sought].some((one) => taken.has(one));
        for (const one of [...(id ? [id] : []), ...own.given]) taken.add(one);
        if (isTaken) later.push(duplicate);
        else if (found?.isOneOfSeveral) fail(duplicate, several);
        else if (found) {
          updates.push({ ...duplicate, match: found, id: found.id, change: changeOf(row, found) });
        } else {
          // Unlike the earlier row, which failed, it may lack what a new record requires.
          const problems = problemsOfNew(row.input);
          if (isFaulty(problems)) fail(duplicate, problems);
          else await inHalves([duplicate], create, fail);
        }
      }
    }
    await inHalves(updates, update, fail);
    // Without a statement, a long pass would not let other requests in.
    if (updates.length === 0) await setImmediate();
    remaining = later;
  }
  return {
    counts: { rows_created: created, rows_updated: updated, rows_skipped: skipped },
    failures,
    savedMarks: records.marks,
  };
};
