import { crmEventResources } from '@tessera/contracts';
import { pathsOf } from '../records/paths.ts';
import { declaredKinds } from './declared-kinds.ts';

/** What users expect of every list. */
export const aspects = [
  'sort',
  'filters',
  'export',
  'history',
  'events',
  'seed',
  'benchmark',
] as const;
export type Aspect = (typeof aspects)[number];

/** A list of CRM, by its path below `/api/crm`, and what it has. */
export interface ListedResource {
  readonly path: string;
  readonly has: Readonly<Record<Aspect, boolean>>;
}

/** The part of an OpenAPI document that is read here. */
export interface ListDocument {
  readonly paths: Readonly<Record<string, { readonly get?: ListOperation }>>;
}
interface ListOperation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[];
}

/** What exists besides the routes. */
export interface Coverage {
  /** The table of each list of declared records, by path. */
  readonly tables: ReadonlyMap<string, string>;
  readonly tablesWithEvents: ReadonlySet<string>;
  readonly seededTables: ReadonlySet<string>;
  /** The paths of the lists that a benchmark measures. */
  readonly measuredLists: ReadonlySet<string>;
}

const PREFIX = '/api/crm';
/** The parameters of every list, which narrow nothing. */
const paging = new Set(['page', 'per_page', 'before', 'after', 'sort', 'exact_total']);

/**
 * The resources in an OpenAPI document: every route that returns a page. Histories are left out: they belong to the
 * lists of their records. So are public routes: they show the published records of other lists.
 */
export const listedResources = (
  { paths }: ListDocument,
  { tables, tablesWithEvents, seededTables, measuredLists }: Coverage,
): ListedResource[] => {
  const all = Object.keys(paths);
  const operations = new Set(Object.values(paths).map(({ get }) => get?.operationId));
  return Object.entries(paths).flatMap(([fullPath, { get }]) => {
    const query = (get?.parameters ?? []).flatMap(({ name, in: place }) =>
      place === 'query' && name !== undefined ? [name] : [],
    );
    if (!query.includes('per_page') || !fullPath.startsWith(PREFIX)) return [];
    if (fullPath.endsWith('/history')) return [];
    const path = fullPath.slice(PREFIX.length);
    const table = tables.get(path) ?? '';
    const below = all.filter((other) => other.startsWith(`${fullPath}/{`));
    return {
      path,
      has: {
        sort: query.includes('sort'),
        filters: query.some((name) => !paging.has(name)),
        export: operations.has(get?.operationId?.replace(/^(list)?/, 'export')),
        history: below.some((other) => /^\/\{\w+\}\/history$/.test(other.slice(fullPath.length))),
        events: tablesWithEvents.has(table),
        seed: seededTables.has(table),
        benchmark: measuredLists.has(path),
      },
    };
  });
};

/** The table of each list of declared records. */
export const tablesByPath = async (): Promise<ReadonlyMap<string, string>> =>
  new Map((await declaredKinds()).map((kind) => [pathsOf(kind).all, kind.table]));

/** The tables whose changes are events, and so reach webhooks. */
export const tablesWithEvents: ReadonlySet<string> = new Set(
  Object.values(crmEventResources).map(({ table }) => table),
);

/** Reasons why a list lacks something, by path. */
export type Reasons = Readonly<Record<string, Partial<Readonly<Record<Aspect, string>>>>>;

/** One line for each thing that a list lacks without a reason, and for each reason that is not needed. */
export const resourceProblems = (
  resources: readonly ListedResource[],
  reasons: Reasons,
): string[] => [
  ...resources.flatMap(({ path, has }) =>
    aspects.flatMap((aspect) => {
      const reason = reasons[path]?.[aspect];
      if (has[aspect]) return reason ? [`${path} has ${aspect}: remove the reason`] : [];
      return reason ? [] : [`${path} lacks ${aspect}`];
    }),
  ),
  ...Object.keys(reasons)
    .filter((path) => !resources.some((resource) => resource.path === path))
    .map((path) => `${path} is no list: remove its reasons`),
];
