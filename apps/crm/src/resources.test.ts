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
