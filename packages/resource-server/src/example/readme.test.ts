import { readFile } from 'node:fs/promises';
import { identityVariables } from '@tessera/resource-server';

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8');

let readme: string;
beforeAll(async () => {
  readme = await read('../../README.md');
});

test('the README shows the example service as it is tested', async () => {
  const [, shown] = /```ts\n\/\/ rooms\.ts\n(.*?)```/s.exec(readme) ?? [];
  expect(shown).toBe(await read('./rooms.ts'));
});

test('the README shows the permissions of the example service as they are tested', async () => {
  const [, shown] = /```json\n(.*?)```/s.exec(readme) ?? [];
  expect(shown).toBe(await read('./permissions.json'));
});

test('the README shows the stand-in for identity as it is tested', async () => {
  const [, shown = ''] = /## Testing.*?```ts\n(.*?)```/s.exec(readme) ?? [];
  const lines = shown.trim().split('\n');
  expect(lines.length).toBeGreaterThan(5);
  const tested = await read('./stand-in.test.ts');
  for (const line of lines) expect(tested).toContain(line);
});

test.each(Object.entries(identityVariables))(
  'the README describes the setting %s with its default',
  (name, { absent, json }) => {
    const byDefault = json.default === undefined ? 'none' : `\`${json.default}\``;
    const initial = absent ? byDefault : 'required';
    expect(readme).toContain(`| \`${name}\` | ${initial} |`);
  },
);
