import { measuredLists } from '@tessera/benchmarks/scale-scenarios';
import { seededTables } from '@tessera/seeding';
import { document } from './document.ts';
import { reasons } from './testing/resource-reasons.ts';
import {
  aspects,
  type Coverage,
  type ListDocument,
  listedResources,
  resourceProblems,
  tablesByPath,
  tablesWithEvents,
} from './testing/resources.ts';

const served = document() as ListDocument;
const coverage: Coverage = {
  tables: await tablesByPath(),
  tablesWithEvents,
  seededTables: new Set(seededTables),
  measuredLists: new Set(measuredLists),
};
const resources = listedResources(served, coverage);

test('Every list has sort, filters, export, history, events, seed rows and a benchmark, or a reason', () => {
  expect(resourceProblems(resources, reasons)).toEqual([]);
});

test('Contacts have all of it', () => {
  const contacts = resources.find(({ path }) => path === '/contacts');
  expect(contacts?.has).toEqual(Object.fromEntries(aspects.map((aspect) => [aspect, true])));
});

test('A new list that has nothing, and reasons that are not needed, are reported', () => {
  const get = { operationId: 'listPlanted', parameters: [{ name: 'per_page', in: 'query' }] };
  const changed = { paths: { ...served.paths, '/api/crm/planted': { get } } };
  const unneeded = {
    ...reasons,
    '/contacts': { export: 'planted' },
    '/gone': { sort: 'planted' },
  };
  expect(resourceProblems(listedResources(changed, coverage), unneeded)).toEqual([
    '/contacts has export: remove the reason',
    ...aspects.map((aspect) => `/planted lacks ${aspect}`),
    '/gone is no list: remove its reasons',
  ]);
});

test.each([
  ['events', { tablesWithEvents: new Set<string>() }],
  ['seed', { seededTables: new Set<string>() }],
  ['benchmark', { measuredLists: new Set<string>() }],
] as const)('Contacts without %s are reported', (aspect, without) => {
  const problems = resourceProblems(listedResources(served, { ...coverage, ...without }), reasons);
  expect(problems).toContain(`/contacts lacks ${aspect}`);
});

interface ListSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, ListSchema>>;
  readonly required?: readonly string[];
}

/**
 * Lists that are complete, because they are short or have a period or a maximum; and orphans, which are not counted: identity
 * would have to be asked about every private record.
 */
const WITHOUT_PAGES =
  /\/export$|-export$|^\/api\/crm\/(chat\/unread|time-entries\/summary|leave-requests\/calendar|orphans)$|\/page-tree$/;

test('Every list has pages by number, and the same meta and links', () => {
  const described = document() as unknown as {
    readonly paths: Readonly<
      Record<
        string,
        {
          readonly get?: {
            readonly parameters?: readonly { readonly name?: string }[];
            readonly responses: Readonly<
              Record<
                string,
                { readonly content?: Readonly<Record<string, { schema: ListSchema }>> }
              >
            >;
          };
        }
      >
    >;
    readonly components: { readonly schemas: Readonly<Record<string, ListSchema>> };
  };
  const resolved = (schema: ListSchema = {}): ListSchema => {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : resolved(described.components.schemas[name]);
  };
  const lists = Object.entries(described.paths).flatMap(([path, { get }]) => {
    const body = resolved(get?.responses[200]?.content?.['application/json']?.schema);
    const { data, meta, links } = body.properties ?? {};
    if (resolved(data).type !== 'array' || WITHOUT_PAGES.test(path)) return [];
    const names = (get?.parameters ?? []).map(({ name }) => name);
    const query = ['page', 'per_page'].filter((name) => names.includes(name));
    return [{ path, query, meta: resolved(meta).required, links: resolved(links).required }];
  });
  expect(lists.length).toBeGreaterThan(50);
  const same = {
    query: ['page', 'per_page'],
    meta: expect.arrayContaining(['current_page', 'last_page', 'per_page', 'total']),
    links: expect.arrayContaining(['first', 'last', 'prev', 'next']),
  };
  expect(lists).toEqual(lists.map(({ path }) => ({ path, ...same })));
});
