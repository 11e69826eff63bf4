import { permissionRegistry } from '@tessera/contracts';
import { covers, WILDCARD } from '@tessera/scope-matcher';
import { type RightsTexts, rightsTexts } from './texts/rights/rights.ts';
import type { Language } from './texts/texts.ts';

type App = keyof RightsTexts['all'];

interface Right {
  readonly app: App;
  readonly resource: string;
  readonly verb: string;
  /** With `{slug}` for the tenant. */
  readonly name: string;
}

/** `tenant.{slug}.crm.<resource>.<verb>` or `identity.<resource>.<verb>`; a resource may have two segments. */
const rights: readonly Right[] = permissionRegistry
  .filter(({ system }) => !system)
  .map(({ name }) => {
    const segments = name.split('.');
    const app = segments[0] === 'tenant' ? 'crm' : 'identity';
    const own = segments.slice(app === 'crm' ? 3 : 1);
    return { app, resource: own.slice(0, -1).join('.'), verb: own.at(-1) ?? '', name };
  });

/** Something that an application may do, in words. */
export interface RightLine {
  readonly text: string;
  /** It reaches so far that nobody should overlook it. */
  readonly isBroad: boolean;
}

interface Weighed extends RightLine {
  /** How many permissions it stands for. */
  readonly weight: number;
}

const grouped = <T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> =>
  items.reduce(
    (groups, item) => groups.set(key(item), [...(groups.get(key(item)) ?? []), item]),
    new Map<string, T[]>(),
  );

/** The words for verbs; what can be viewed can be listed, too. */
const namesOf = (verbs: readonly string[], texts: RightsTexts, language: Language): string => {
  const shown = verbs.filter((verb) => verb !== 'list' || !verbs.includes('view'));
  const words: Readonly<Record<string, string>> = texts.verbs;
  const format = new Intl.ListFormat(language, { type: 'conjunction' });
  return format.format(shown.map((verb) => words[verb] ?? verb));
};

/** Reading changes nothing; in administration everything else does more than a person may expect. */
const isHarmless = (verb: string): boolean => verb === 'list' || verb === 'view';

/** What is held in one app: for most of its resources in one line, and then what single ones have besides. */
const linesOf = (
  app: App,
  held: readonly Right[],
  { texts, language }: { readonly texts: RightsTexts; readonly language: Language },
): Weighed[] => {
  const all = grouped(
    rights.filter((right) => right.app === app),
    ({ resource }) => resource,
  );
  const byVerb = grouped(held, ({ verb }) => verb);
  // A verb that most of the resources share is said once for all of them.
  const shared = [...byVerb].filter(([, { length }]) => length * 2 > all.size);
  const isShared = ({ verb }: Right): boolean => shared.some(([name]) => name === verb);
  const lines: Weighed[] = [];
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
 * What patterns of permissions mean in a tenant, in the reader's language: the broadest first. A pattern that
 * covers nothing there is shown as it is.
 */
export const rightLines = (
  patterns: readonly string[],
  tenant: { readonly slug: string; readonly name: string } | null,
  language: Language,
): readonly RightLine[] => {
  const texts = rightsTexts(language);
  if (patterns.includes(WILDCARD)) {
    return [{ text: texts.everything(tenant?.name ?? texts.anywhere), isBroad: true }];
  }
  const nameOf = ({ name }: Right): string => name.replace('{slug}', tenant?.slug ?? 'none');
  const isHeld = (right: Right): boolean =>
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
