import type { Match } from './existing-records.ts';
import type { RowMarks } from './row-marks.ts';
import type { SeenValues } from './seen-values.ts';

/** A record that a row of the batch was saved in. */
interface Saved {
  readonly id: string;
  readonly row_number: number;
}

/**
 * The records that rows of one batch are saved in, which the records that the database showed before the batch do not
 * include, and in a dry run those that earlier batches would have saved.
 */
export class BatchRecords {
  readonly #expected = new Set<string>();
  readonly #saved = new Map<string, Saved[]>();
  readonly #ofEarlierBatches: SeenValues | undefined;
  /** The marks that rows of this batch would give to records of earlier ones. */
  readonly #addedInDryRun = new Set<string>();

  constructor(ofEarlierBatches: SeenValues | undefined) {
    this.#ofEarlierBatches = ofEarlierBatches;
  }

  /** Expects that a record gets the marks of a row. */
  expect({ given }: RowMarks): void {
    for (const mark of given) this.#expected.add(mark);
  }

  /** Whether the record of a row may be one that an earlier row is saved in. */
  isExpected({ sought }: RowMarks): boolean {
    return sought.some((mark) => this.#expected.has(mark));
  }

  /** Adds a record that a row was saved in. */
  add(row_number: number, { given }: RowMarks, id: string): void {
    for (const mark of given) {
      const others = this.#saved.get(mark);
      if (others) others.push({ id, row_number });
      else this.#saved.set(mark, [{ id, row_number }]);
    }
  }

  /** The record of a row among those that earlier rows are saved in and the one that the database has shown. */
  find(
    row_number: number,
    { keys, sought }: RowMarks,
    match: Match | undefined,
  ): Match | undefined {
    if (match && match.id === keys.id) return match;
    for (const [index, mark] of sought.entries()) {
      const isAlso = index > 0;
      const shown = match?.isAlso === isAlso ? match : undefined;
      const saved = this.#saved.get(mark)?.filter((one) => one.row_number < row_number) ?? [];
      const ids = new Set([...(shown ? [shown.id] : []), ...saved.map(({ id }) => id)]);
      const [id] = ids;
      if (id === undefined) continue;
      return { id, isOneOfSeveral: ids.size > 1 || (shown?.isOneOfSeveral ?? false), isAlso };
    }
    return undefined;
  }

  /** Whether the record of a row is one that an earlier batch of a dry run would have saved. */
  isInDryRun({ sought }: RowMarks): boolean {
    return sought.some(
      (mark) => this.#addedInDryRun.has(mark) || this.#ofEarlierBatches?.has(mark),
    );
  }

  /** Adds what a row would change of a record for which `isInDryRun` holds. One with the second mark keeps its marks. */
  addInDryRun({ sought: [own = ''], given }: RowMarks): void {
    if (!this.#addedInDryRun.has(own) && !this.#ofEarlierBatches?.has(own)) return;
    for (const mark of given) this.#addedInDryRun.add(mark);
  }

  /** The marks of all of these records. */
  get marks(): readonly string[] {
    return [...this.#saved.keys(), ...this.#addedInDryRun];
  }
}
