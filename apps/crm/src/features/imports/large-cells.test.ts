import { setImmediate } from 'node:timers/promises';
import { until } from '@tessera/local-stack';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { batchesOf } from './batches.ts';
import { readHeader, readRows, UnreadableFile } from './csv.ts';

const { caller, crm, get } = tenantForEachTest();

const path = '/api/crm/imports';

const sent = (file: string) =>
  crm()
    .http.post(path)
    .set(caller())
    .field('resource', 'contacts')
    .attach('file', Buffer.from(file), { filename: 'a.csv', contentType: 'text/csv' });

/** The errors of the failed rows of a file. */
const errorsOf = async (file: string): Promise<string> => {
  const { body } = await sent(file).expect(201);
  const { id } = body.data;
  await until(async () => (await get(`${path}/${id}`)).body.data.finished_at !== null);
  return (await get(`${path}/${id}/failures`).expect(200)).text;
};

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;

test.each([
  [
    'a list of more items than are allowed',
    'a,'.repeat(40_000),
    'tags must contain less than or equal to 50 items',
  ],
  ['a million commas', ','.repeat(900_000), 'tags must not have more than 100000 characters'],
  ['450,000 brackets', '['.repeat(450_000), 'tags must not have more than 100000 characters'],
  ['brackets within the limit', '['.repeat(100_000), 'tags must be an array'],
  ['nested lists', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'tags.0 must be a string'],
])('A cell that is %s is refused before it is split or parsed', async (_, cell, error) => {
  const parse = import.meta.jest.spyOn(JSON, 'parse');
  const split = import.meta.jest.spyOn(String.prototype, 'split');
  try {
    expect(await errorsOf(`first_name,tags\nAda,${quoted(cell)}\n`)).toContain(error);
    const parsed = parse.mock.calls
      .filter(([text]) => /^\[+/.test(text))
      .map(([text]) => text.length);
    expect(Math.max(0, ...parsed)).toBeLessThanOrEqual(100_000);
    const parts = split.mock.results.map(({ value }) => (value as string[]).length);
    expect(Math.max(...parts)).toBeLessThan(10_000);
  } finally {
    parse.mockRestore();
    split.mockRestore();
  }
});

test('A list of invalid items has the first 20 errors', async () => {
  const items = JSON.stringify(Array.from({ length: 50 }, (_, number) => number));
  const text = await errorsOf(`first_name,tags\nAda,${quoted(items)}\n`);
  expect(text.match(/must be a string/g)).toHaveLength(20);
});

test('A header has at most 2,000 columns and 50,000 characters', async () => {
  const { body } = await sent(`first_name${','.repeat(2000)}\nAda\n`).expect(422);
  expect(body.errors).toEqual({ file: ['file must not have more than 2000 columns'] });
  const long = await sent(`first_name,${'x'.repeat(60_000)}\nAda\n`).expect(422);
  expect(long.body.errors).toEqual({ file: ['The header row has more than 50000 characters'] });
  const names = Array.from({ length: 100 }, (_, number) => `column ${number}`);
  const unknown = await sent(`first_name,${names}\nAda\n`).expect(422);
  expect(unknown.body.errors.file[0]).toMatch(
    /^the column "column 0", .* and 90 more is not a field/,
  );
  expect(readHeader(`${'x'.repeat(49_000)}\n${'y'.repeat(60_000)}`, 'comma')).toHaveLength(1);
});

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const format = { encoding: 'utf-8', delimiter: 'comma' } as const;

test('A row has at most 20,000 cells', async () => {
  const rows = readRows(bytesOf(`a\nb${','.repeat(19_999)}\nc${','.repeat(20_000)}\n`), format);
  await rows.next();
  const { value } = await rows.next();
  expect(value?.cells).toHaveLength(20_000);
  await expect(rows.next()).rejects.toThrow(new UnreadableFile('Row 3 has more than 20000 cells.'));
});

test('A file is parsed and checked in turns with other work, and characters are not torn apart', async () => {
  const emoji = '😀'.repeat(200_001);
  const rows = readRows(bytesOf(`x${emoji}\nxy${emoji}\n${'a\n'.repeat(1000)}`), format);
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      await setImmediate();
      turns += 1;
    }
  })();
  const read: string[] = [];
  for await (const batch of batchesOf(rows, 0, () => ({ ok: false, errors: [] }))) {
    read.push(...batch.map(({ cells }) => cells.join()));
  }
  isOver = true;
  await counting;
  expect(read.slice(0, 3)).toEqual([`x${emoji}`, `xy${emoji}`, 'a']);
  // One for each 16,384 of 800,000 characters, and for ten rows.
  expect(turns).toBeGreaterThan(100);
});
