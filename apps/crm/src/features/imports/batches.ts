import { setImmediate } from 'node:timers/promises';
import type { CsvRow } from './csv.ts';
import type { RowResult } from './row-reader.ts';

/**
 * How many rows one transaction saves, and about how many characters. More take less time per row, but what they update
 * stays locked for longer.
 */
export const BATCH = 2000;
/** The first batches are smaller, because PostgreSQL waits for the first one; each has twice as many rows as the one before. */
const FIRST_BATCH = 250;
const BATCH_CHARACTERS = 4_000_000;
/**
 * How many rows, and about how many characters, are checked before other work goes on: requests, and the transactions that save the previous batches,
 * each statement of which waits for the rows being checked.
 */
const CHECKED_AT_ONCE = 10;
const CHARACTERS_AT_ONCE = 50_000;

/** A row of the file, checked. */
export interface CheckedRow {
  readonly row_number: number;
  readonly cells: readonly string[];
  /** Undefined for a blank row, which is only counted. */
  readonly result: RowResult | undefined;
}

/**
 * The rows of the file after the first `skip` ones, checked, in batches. `check` also gets the number of cells of the widest row
 * before.
 */
export async function* batchesOf(
  rows: AsyncIterable<CsvRow>,
  skip: number,
  check: (cells: readonly string[], widest: number) => RowResult,
): AsyncGenerator<readonly CheckedRow[]> {
  let read = 0;
  let widest = 0;
  let size = FIRST_BATCH;
  let batch: CheckedRow[] = [];
  let characters = 0;
  /** The characters of the batch after which other work went on. */
  let checked = 0;
  for await (const { number, cells, isBlank } of rows) {
    read += 1;
    const widestBefore = widest;
    if (!isBlank) widest = Math.max(widest, cells.length);
    if (read <= skip) continue;
    const result = isBlank ? undefined : check(cells, widestBefore);
    batch.push({ row_number: number, cells, result });
    // With the delimiters: a row may have many empty cells.
    characters += cells.reduce((sum, { length }) => sum + length + 1, 0);
    if (batch.length % CHECKED_AT_ONCE === 0 || characters - checked > CHARACTERS_AT_ONCE) {
      checked = characters;
      await setImmediate();
    }
    if (batch.length < size && characters < BATCH_CHARACTERS) continue;
    yield batch;
    size = Math.min(BATCH, 2 * size);
    batch = [];
    characters = 0;
    checked = 0;
  }
  if (batch.length > 0) yield batch;
}
