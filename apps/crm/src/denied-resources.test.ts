import { randomUUID } from 'node:crypto';
import { type OpenApiDocument, operationsOf } from '@tessera/conformance';
import { document } from './document.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';

/** Segments of paths that are no plural of the name of what is below them. */
const NAMES: Readonly<Record<string, string>> = {
  'kb-articles': 'article',
  'blog-posts': 'post',
};

const singular = (plural: string): string =>
  plural
    .replace(/ies$/, 'y')
    .replace(/(ss|x)es$/, '$1')
    .replace(/([^s])s$/, '$1');

/** The name of the resource that the last parameter of a path identifies: `/members/{userId}` -> `member`. */
const namedBy = (path: string): string => {
  const [, before = ''] =
    /.*\/([^/{}]+)(?=\/\{\w+\}[^{}]*$)/.exec(path.replace('/trash', '')) ?? [];
  return NAMES[before] ?? singular(before).replaceAll('-', ' ');
};

const guarded = operationsOf(document() as OpenApiDocument).filter((operation) => {
  const permissions = (operation as { 'x-permissions'?: unknown })['x-permissions'];
  return Array.isArray(permissions) && permissions.length > 0;
});

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());

test('A denied request names the type and the id of one resource', async () => {
  const caller = crm.caller({ permissions: [] });
  const wrong: unknown[] = [];
  for (const { id, path, method } of guarded) {
    const ids: string[] = [];
    const url = path.replace(/\{\w+\}/g, () => {
      ids.push(randomUUID());
      return ids.at(-1) ?? '';
    });
    if (method === 'HEAD') continue;
    const response = await fetch(crm.url + url, { method, headers: caller });
    const { resource_type: type, resource_id: of } = (await response.json()) as {
      resource_type: string | null;
      resource_id: string | null;
    };
    const lastId = ids.at(-1) ?? null;
    const isNamed =
      lastId === null || type === namedBy(path) || type === `${namedBy(path)} of the channel`;
    if (response.status !== 403 || !isNamed || of !== lastId) wrong.push([id, path, type, of]);
  }
  expect(wrong).toEqual([]);
});
