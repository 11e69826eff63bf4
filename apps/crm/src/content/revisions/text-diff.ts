import { diffWordsWithSpace, formatPatch, type StructuredPatch, structuredPatch } from 'diff';

/** A part of a line. */
export interface Segment {
  readonly text: string;
  readonly is_changed: boolean;
}

export interface DiffLine {
  readonly type: 'unchanged' | 'removed' | 'added';
  readonly text: string;
  /** The words that differ from the line's counterpart; null if the line has none, or is too long to compare. */
  readonly segments: Segment[] | null;
}

/** Consecutive lines with a change and up to three unchanged lines around it. Line numbers begin with 1. */
export interface Hunk {
  readonly old_start: number;
  readonly old_lines: number;
  readonly new_start: number;
  readonly new_lines: number;
  readonly lines: DiffLine[];
}

export interface TextDiff {
  readonly hunks: Hunk[];
  /** The same in the unified format of `diff -u`. */
  readonly unified: string;
  /** False if the texts differ too much to be compared in bounded time: one hunk then replaces all lines. */
  readonly is_minimal: boolean;
  /** False if the hunks would have more than `MAX_LINES` lines: those after them are left out, and `unified` has them. */
  readonly is_complete: boolean;
}

/** The most lines of all hunks. Each is an object in the response, and could be one character. */
export const MAX_LINES = 2000;

const CONTEXT = 3;
/** Limits the time of a comparison, which grows with the square of the number of differences: about 0.1 s. */
const MAX_LINE_EDITS = 1000;
const MAX_WORD_EDITS = 200;
/** How many characters of changed lines are compared by words. */
const MAX_WORD_CHARACTERS = 50_000;
/** How many segments lines have until the others are shown without. */
const MAX_SEGMENTS = 5000;

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

/** A text whose last line ends like all others, so that adding a line after it does not change it. */
const terminated = (text: string): string =>
  text === '' || text.endsWith('\n') ? text : `${text}\n`;

/** A patch that replaces all lines. */
const replacement = (before: string, after: string): StructuredPatch => {
  const [removed, added] = [linesOf(before), linesOf(after)];
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  const hunk = {
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines,
  };
  const names = { oldFileName: 'a', newFileName: 'b', oldHeader: '', newHeader: '' };
  return { ...names, hunks: [hunk] } as StructuredPatch;
};

/** The segments of each line on both sides; undefined if the texts differ too much. */
const compareWords = (
  removed: readonly string[],
  added: readonly string[],
): { readonly removed: Segment[][]; readonly added: Segment[][] } | undefined => {
  const changes = diffWordsWithSpace(removed.join('\n'), added.join('\n'), {
    maxEditLength: MAX_WORD_EDITS,
  });
  if (!changes) return undefined;
  const sides: { readonly removed: Segment[][]; readonly added: Segment[][] } = {
    removed: [[]],
    added: [[]],
  };
  const append = (side: Segment[][], text: string, is_changed: boolean): void => {
    const [first = '', ...more] = text.split('\n');
    if (first) side.at(-1)?.push({ text: first, is_changed });
    for (const line of more) side.push(line ? [{ text: line, is_changed }] : []);
  };
  for (const { value, added: isAdded, removed: isRemoved } of changes) {
    if (!isAdded) append(sides.removed, value, isRemoved);
    if (!isRemoved) append(sides.added, value, isAdded);
  }
  return sides;
};

/** Compares the lines of hunks by words, until a limit is reached. */
class WordComparison {
  #left = MAX_WORD_CHARACTERS;
  #segmentsLeft = MAX_SEGMENTS;

  /** The lines of a hunk, whose first character tells their type. */
  linesOf(marked: readonly string[]): DiffLine[] {
    const runs: DiffLine[][] = [];
    let removed: string[] = [];
    let added: string[] = [];
    const endRun = (): void => {
      runs.push(this.#run(removed, added));
      removed = [];
      added = [];
    };
    for (const line of marked) {
      const text = line.slice(1);
      if (line.startsWith('-')) {
        if (added.length > 0) endRun();
        removed.push(text);
      } else if (line.startsWith('+')) {
        added.push(text);
      } else {
        endRun();
        runs.push([{ type: 'unchanged', text, segments: null }]);
      }
    }
    endRun();
    return runs.flat();
  }

  /** Removed lines and those that replace them. */
  #run(removed: readonly string[], added: readonly string[]): DiffLine[] {
    const size = [...removed, ...added].reduce((sum, { length }) => sum + length, 0);
    const isCompared = removed.length > 0 && added.length > 0 && size <= this.#left;
    if (isCompared) this.#left -= size;
    const words = isCompared && this.#segmentsLeft > 0 ? compareWords(removed, added) : undefined;
    for (const { length } of words ? [...words.removed, ...words.added] : []) {
      this.#segmentsLeft -= length;
    }
    return [
      ...removed.map((text, index): DiffLine => {
        return { type: 'removed', text, segments: words?.removed[index] ?? null };
      }),
      ...added.map((text, index): DiffLine => {
        return { type: 'added', text, segments: words?.added[index] ?? null };
      }),
    ];
  }
}

/**
 * Compares two texts by lines, and changed lines by words. The result is bounded, and so is the time, but it can be most of a
 * second: services call `compareTexts`.
 */
export const diffTexts = (from: string, to: string): TextDiff => {
  const [before, after] = [terminated(from), terminated(to)];
  const found = structuredPatch('a', 'b', before, after, '', '', {
    context: CONTEXT,
    maxEditLength: MAX_LINE_EDITS,
  });
  const patch = found ?? replacement(before, after);
  const words = new WordComparison();
  let left = MAX_LINES;
  let isComplete = true;
  const hunks: Hunk[] = [];
  for (const { oldStart, oldLines, newStart, newLines, lines } of patch.hunks) {
    if (lines.length > left) isComplete = false;
    if (left === 0) break;
    const shown = lines.slice(0, left);
    left -= shown.length;
    hunks.push({
      old_start: oldStart,
      old_lines: oldLines,
      new_start: newStart,
      new_lines: newLines,
      lines: words.linesOf(shown),
    });
  }
  return {
    hunks,
    unified: hunks.length > 0 ? formatPatch(patch) : '',
    is_minimal: found !== undefined,
    is_complete: isComplete,
  };
};
