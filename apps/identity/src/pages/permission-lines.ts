import type { PermissionRegistry } from '@tessera/contracts';
import { covers, WILDCARD } from '@tessera/scope-matcher';
import { type PermissionTexts, permissionTexts } from './texts/permissions/permissions.ts';
import type { Language } from './texts/texts.ts';

/** The services whose permissions have texts in every language. */
type App = keyof PermissionTexts['all'];

interface Permission {
  /** An `App` or a further service. */
  readonly service: string;
  readonly resource: string;
  readonly verb: string;
  /** Contains `{slug}` for the tenant. */
  readonly name: string;
  readonly description: string;
}

/** `tenant.{slug}.<service>.<resource>.<verb>` or `identity.<resource>.<verb>`; a resource may have several segments. */
const rightsIn = ({ permissions }: PermissionRegistry): readonly Permission[] =>
  permissions
    .filter(({ system }) => !system)
    .map(({ name, description }) => {
      const segments = name.split('.');
      const [service = '', ...own] = segments.slice(segments[0] === 'tenant' ? 2 : 0);
      const resource = own.slice(0, -1).join('.');
      return { service, resource, verb: own.at(-1) ?? '', name, description };
    });

/** A description of permissions. */
export interface PermissionLine {
  readonly text: string;
  /** True for far-reaching permissions, which are highlighted. */
  readonly isBroad: boolean;
}

/** Permissions of one service. */
interface Rights {
  readonly held: readonly Permission[];
  readonly existing: readonly Permission[];
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

interface Words {
  readonly texts: PermissionTexts;
  readonly language: Language;
}

/**
 * Describes the permissions in one app: verbs shared by most resources in one line, then the rest by resource.
 */
const linesOfApp = (
  app: App,
  { held, existing }: Rights,
  { texts, language }: Words,
): WeightedLine[] => {
  const all = grouped(existing, ({ resource }) => resource);
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

/** Describes the permissions in a further service with its own descriptions, or in one line if they are all. */
const linesOfService = (
  service: string,
  { held, existing }: Rights,
  { texts }: Words,
): WeightedLine[] =>
  held.length > 1 && held.length === existing.length
    ? [{ text: `${service}: ${texts.fullAccess}`, isBroad: true, weight: held.length }]
    : held.map(({ description }) => ({
        text: `${service}: ${description}`,
        isBroad: false,
        weight: 1,
      }));

/**
 * Describes permission patterns in a tenant in the visitor's language, broadest first. A pattern that matches
 * nothing is shown as is.
 */
export type PermissionLines = (
  patterns: readonly string[],
  tenant: { readonly slug: string; readonly name: string } | null,
  language: Language,
) => readonly PermissionLine[];

/** Describes patterns of the permissions that exist. */
export const permissionLinesOf = (registry: PermissionRegistry): PermissionLines => {
  const rights = rightsIn(registry);
  const existing = grouped(rights, ({ service }) => service);
  return (patterns, tenant, language) => {
    const texts = permissionTexts(language);
    if (patterns.includes(WILDCARD)) {
      return [{ text: texts.everything(tenant?.name ?? texts.anywhere), isBroad: true }];
    }
    const nameOf = ({ name }: Permission): string => name.replace('{slug}', tenant?.slug ?? 'none');
    const isHeld = (right: Permission): boolean =>
      patterns.some((pattern) => covers(pattern, nameOf(right)));
    const isApp = (service: string): service is App => Object.hasOwn(texts.all, service);
    const lines = [...grouped(rights.filter(isHeld), ({ service }) => service)].flatMap(
      ([service, held]) => {
        const own = { held, existing: existing.get(service) ?? [] };
        const words = { texts, language };
        return isApp(service)
          ? linesOfApp(service, own, words)
          : linesOfService(service, own, words);
      },
    );
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
};
