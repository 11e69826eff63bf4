import { BuiltTexts, partsOf } from './built-texts.ts';

test('A text is built once for all requests until its entity tag changes, and again after a failure', async () => {
  const texts = new BuiltTexts();
  let builds = 0;
  const build = async (): Promise<string> => {
    builds += 1;
    return `${builds}`;
  };
  const text = async (name: string, etag: string, by = build): Promise<string> =>
    `${await texts.get({ tenant: 'one', name, etag }, by)}`;
  const both = await Promise.all([text('a', '"1"'), text('a', '"1"')]);
  expect([...both, await text('a', '"1"')]).toEqual(['1', '1', '1']);
  expect(await text('a', '"2"')).toBe('2');
  expect(await text('b', '"2"')).toBe('3');
  const failed = text('c', '"1"', () => Promise.reject(new Error('no database')));
  await expect(failed).rejects.toThrow('no database');
  expect(await text('c', '"1"')).toBe('4');
  expect(texts.use).toMatchObject({ hits: 2, misses: 5, size: 3 });
});

test('A tenant has one build at a time, so that others are built meanwhile', async () => {
  const texts = new BuiltTexts();
  let running = 0;
  let most = 0;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const build = async (): Promise<string> => {
    running += 1;
    most = Math.max(most, running);
    await ended;
    running -= 1;
    return 'text';
  };
  const textOf = (tenant: string, number: number, by: () => Promise<string>) =>
    texts.get({ tenant, name: `${number}`, etag: '"1"' }, by);
  const noisy = Array.from({ length: 60 }, (_, number) =>
    textOf('noisy', number, build).catch((error) => error),
  );
  expect(`${await textOf('quiet', 1, async () => 'quiet')}`).toBe('quiet');
  end();
  const outcomes = await Promise.all(noisy);
  expect(most).toBe(1);
  const refused = outcomes.filter((outcome) => !Buffer.isBuffer(outcome));
  expect(refused).toEqual(Array(9).fill(expect.objectContaining({ status: 503 })));
});

test('The parts of a text are the text', async () => {
  const text = Buffer.from('añ'.repeat(70_000));
  const parts: Buffer[] = [];
  for await (const part of partsOf(text)) parts.push(part);
  expect(parts.length).toBeGreaterThan(1);
  expect(Buffer.concat(parts).equals(text)).toBe(true);
});
