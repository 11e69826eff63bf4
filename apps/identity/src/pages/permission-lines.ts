import { permissionRegistry } from '@tessera/contracts';
import { covers, WILDCARD } from '@tessera/scope-matcher';
import { type PermissionTexts, permissionTexts } from './texts/permissions/permissions.ts';
import type { Language } from './texts/texts.ts';

type App = keyof PermissionTexts['all'];

interface Permission {
  readonly app: App;
  readonly resource: string;
  readonly verb: string;
  /** Contains `{slug}` for the tenant. */
  readonly name: string;
}

/** `tenant.{slug}.crm.<resource>.<verb>` or `identity.<resource>.<verb>`; a resource may have two segments. */
const rights: readonly Permission[] = permissionRegistry
  .filter(({ system }) => !system)
  .map(({ name }) => {
    const segments = name.split('.');
    const app = segments[0] === 'tenant' ? 'crm' : 'identity';
    const own = segments.slice(app === 'crm' ? 3 : 1);
    return { app, resource: own.slice(0, -1).join('.'), verb: own.at(-1) ?? '', name };
  });

/** A description of permissions. */
export interface PermissionLine {
  readonly text: string;
  /** True for far-reaching permissions, which are highlighted. */
  readonly isBroad: boolean;
}

interface WeightedLine extends PermissionLine {
  /** Number of permissions it describes. */
  readonly weight: number;
}

const grouped = <T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> =>
  items.reduce(
    (groups, item) => groups.set(key(item), [...(groups.get(key(item)) ?? []), item]),
    new Map<string, T[]>(),
  );

/** The words for verbs; `view` implies `list`. */
const namesOf = (verbs: readonly string[], texts: PermissionTexts, language: Language): string => {
  const shown = verbs.filter((verb) => verb !== 'list' || !verbs.includes('view'));
  const words: Readonly<Record<string, string>> = texts.verbs;
  const format = new Intl.ListFormat(language, { type: 'conjunction' });
  return format.format(shown.map((verb) => words[verb] ?? verb));
};

/** Reading is harmless; any other administrative permission is highlighted. */
const isHarmless = (verb: string): boolean => verb === 'list' || verb === 'view';

/**
 * Describes the permissions in one app: verbs shared by most resources in one line, then the rest by resource.
 */
const linesOf = (
  app: App,
  held: readonly Permission[],
  { texts, language }: { readonly texts: PermissionTexts; readonly language: Language },
): WeightedLine[] => {
  const all = grouped(
    rights.filter((right) => right.app === app),
    ({ resource }) => resource,
  );
  const byVerb = grouped(held, ({ verb }) => verb);
  // A verb shared by most resources is described once.
  const shared = [...byVerb].filter(([, { length }]) => length * 2 > all.size);
  const isShared = ({ verb }: Permission): boolean => shared.some(([name]) => name === verb);
  const lines: WeightedLine[] = [];
  if (shared.length > 0) {
    const verbs = namesOf(
      shared.map(([verb]) => verb),
      texts,
      language,
    );
    const weight = shared.reduce((sum, [, { length }]) => sum + length, 0);
    lines.push({ text: `${texts.all[app]}: ${verbs}`, isBroad: true, weight });
  }
  const names: Readonly<Record<string, string>> = texts.resources;
  const single = held.filter((right) => !isShared(right));
  for (const [resource, own] of grouped(single, (right) => right.resource)) {
    const isWhole = own.length > 1 && own.length === all.get(resource)?.length;
    const verbs = own.map(({ verb }) => verb);
    const what = isWhole ? texts.fullAccess : namesOf(verbs, texts, language);
    const isBroad = app === 'identity' && !verbs.every(isHarmless);
    lines.push({ text: `${names[resource] ?? resource}: ${what}`, isBroad, weight: own.length });
  }
  return lines;
};

/**
 * Describes permission patterns in a tenant in the visitor's language, broadest first. A pattern that matches
 * nothing is shown as is.
 */
export const permissionLines = (
  patterns: readonly string[],
  tenant: { readonly slug: string; readonly name: string } | null,
  language: Language,
): readonly PermissionLine[] => {
  const texts = permissionTexts(language);
  if (patterns.includes(WILDCARD)) {
    return [{ text: texts.everything(tenant?.name ?? texts.anywhere), isBroad: true }];
  }
  const nameOf = ({ name }: Permission): string => name.replace('{slug}', tenant?.slug ?? 'none');
  const isHeld = (right: Permission): boolean =>
    patterns.some((pattern) => covers(pattern, nameOf(right)));
  const held = grouped(rights.filter(isHeld), ({ app }) => app);
  const lines = [...held].flatMap(([app, own]) => linesOf(app as App, own, { texts, language }));
  const unknown = patterns.filter(
    (pattern) => !rights.some((right) => covers(pattern, nameOf(right))),
  );
  return [
    ...lines
      .toSorted((a, b) => Number(b.isBroad) - Number(a.isBroad) || b.weight - a.weight)
      .map(({ text, isBroad }) => ({ text, isBroad })),
    ...unknown.map((text) => ({ text, isBroad: false })),
  ];
};
