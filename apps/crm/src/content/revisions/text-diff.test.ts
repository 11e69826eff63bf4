import { diffTexts, MAX_LINES } from './text-diff.ts';

const textOf = (type: 'removed' | 'added', diff: ReturnType<typeof diffTexts>): string[] =>
  diff.hunks.flatMap(({ lines }) =>
    lines.filter((line) => line.type !== 'unchanged' && line.type === type).map(({ text }) => text),
  );

test('A difference shows the changed lines with their surroundings, and the changed words in them', () => {
  const before = ['1', '2', '3', '4', 'The quick fox', '6', '7', '8', '9'].join('\n');
  const { hunks, unified, is_minimal } = diffTexts(before, before.replace('quick', 'slow'));
  expect(is_minimal).toBe(true);
  expect(hunks).toEqual([
    {
      old_start: 2,
      old_lines: 7,
      new_start: 2,
      new_lines: 7,
      lines: [
        ...['2', '3', '4'].map((text) => ({ type: 'unchanged', text, segments: null })),
        {
          type: 'removed',
          text: 'The quick fox',
          segments: [
            { text: 'The ', is_changed: false },
            { text: 'quick', is_changed: true },
            { text: ' fox', is_changed: false },
          ],
        },
        {
          type: 'added',
          text: 'The slow fox',
          segments: [
            { text: 'The ', is_changed: false },
            { text: 'slow', is_changed: true },
            { text: ' fox', is_changed: false },
          ],
        },
        ...['6', '7', '8'].map((text) => ({ type: 'unchanged', text, segments: null })),
      ],
    },
  ]);
  expect(unified).toContain('@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-The quick fox\n+The slow fox\n 6\n');
});

test('Segments of several lines together are the lines', () => {
  const { hunks } = diffTexts('a b\n\nc d\ne', 'a x\n\nc y\nz\nw');
  for (const { text, segments } of hunks.flatMap(({ lines }) => lines)) {
    if (segments) expect(segments.map((segment) => segment.text).join('')).toBe(text);
  }
});

test.each([
  ['equal texts', 'a\nb', 'a\nb'],
  ['texts that differ in the end of the last line only', 'a\nb', 'a\nb\n'],
  ['empty texts', '', ''],
])('The difference of %s is empty', (_, before, after) => {
  expect(diffTexts(before, after)).toEqual({
    hunks: [],
    unified: '',
    is_minimal: true,
    is_complete: true,
  });
});

test('A text that is added after the last line does not change that line', () => {
  const diff = diffTexts('a', 'a\nb');
  expect([textOf('removed', diff), textOf('added', diff)]).toEqual([[], ['b']]);
});

test('Texts that differ too much are replaced as a whole instead of being compared at length', () => {
  const text = (prefix: string) => Array.from({ length: 20_000 }, (_, n) => prefix + n).join('\n');
  const diff = diffTexts(text('a'), text('b'));
  expect(diff).toMatchObject({ is_minimal: false, hunks: [{ old_lines: 20_000, new_start: 1 }] });
  expect(diff.unified).toContain('@@ -1,20000 +1,20000 @@');
  const added = diff.unified.split('\n').filter((line) => /^\+b/.test(line));
  expect(added).toHaveLength(20_000);
});

const long = (unit: string): string => unit.repeat(100_000 / unit.length);
const every = (count: number, line: (number: number) => string): string =>
  Array.from({ length: count }, (_, number) => line(number)).join('\n');

test.each([
  ['line breaks that are removed', long('\n'), ''],
  ['line breaks that become lines', long('\n'), long('a\n')],
  ['many short hunks', every(9000, (n) => `${n}`), every(9000, (n) => (n % 20 ? `${n}` : 'x'))],
  ['many changed words', long('a b c d e\nx\n'), long('a q c r e\nx\n')],
  ['other line ends', long('\r\n'), long('\n')],
])('The difference of %s has a bounded number of lines and segments', (_, before, after) => {
  const { hunks, is_complete, unified } = diffTexts(before, after);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
  expect(lines.flatMap(({ segments }) => segments ?? []).length).toBeLessThan(6000);
  const all = unified
    .split('\n')
    .filter((line) => /^[-+ ]/.test(line))
    .slice(2).length;
  expect(is_complete).toBe(all <= lines.length);
});

test('A long line that is rewritten is shown without its words', () => {
  const line = (word: string) => Array.from({ length: 20_000 }, (_, n) => word + n).join(' ');
  const [removed, added] = diffTexts(line('a'), line('b')).hunks[0]?.lines ?? [];
  expect([removed?.segments, added?.segments]).toEqual([null, null]);
});
