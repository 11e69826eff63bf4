import { parsePattern, WILDCARD } from './pattern.ts';

export type PatternCheck =
  /** `covers` is the number of known permissions that it covers; 0 for the beginning of some, such as `identity.*`. */
  | { readonly known: true; readonly covers: number }
  | { readonly known: false; readonly reason: string };

/**
 * The segments of a registered permission. One in braces is a placeholder, which matches any literal:
 * `tenant.{slug}.crm.tasks.view`.
 */
export type RegisteredPermission = readonly string[];

const isPlaceholder = (segment: string): boolean => segment.startsWith('{');

/** How many segments a reason lists that would have been known. */
const MAX_ALTERNATIVES = 20;

const alternativesAt = (index: number, candidates: readonly RegisteredPermission[]): string => {
  const known = new Set(candidates.flatMap((permission) => permission[index] ?? []));
  return known.size === 0 || known.size > MAX_ALTERNATIVES
    ? ''
    : ` (known: ${[...known].join(', ')})`;
};

/**
 * Checks whether a pattern can match a registered permission: it is `*`, covers one, or contains a wildcard and is the
 * beginning of one. Otherwise, the reason names the first segment that no permission has and the known ones in its place,
 * or a permission of which the pattern is only the beginning. With `literal`, placeholders stand for this literal alone.
 */
export const checkPattern = (
  pattern: string,
  registry: readonly RegisteredPermission[],
  literal?: string,
): PatternCheck => {
  const parsed = parsePattern(pattern);
  if (!parsed.ok) return { known: false, reason: parsed.reason };
  if (pattern === WILDCARD) return { known: true, covers: registry.length };
  const matches = (segment: string, own: string | undefined): boolean => {
    if (own === undefined) return false;
    if (segment === WILDCARD || segment === own) return true;
    return isPlaceholder(own) && (literal === undefined || segment === literal);
  };
  const shown = (text: string): string => (literal ? text.replace(/\{\w+\}/, literal) : text);
  let candidates = registry;
  for (const [index, segment] of parsed.segments.entries()) {
    const matching = candidates.filter((permission) => matches(segment, permission[index]));
    if (matching.length === 0) {
      const before = parsed.segments.slice(0, index).join('.');
      const where = before && ` after ${JSON.stringify(before)}`;
      const known = shown(alternativesAt(index, candidates));
      const reason = `no permission has ${JSON.stringify(segment)} as segment ${index + 1}${where}${known}`;
      return { known: false, reason };
    }
    candidates = matching;
  }
  const { length } = parsed.segments;
  const covers = candidates.filter((own) => own.length === length).length;
  if (covers > 0 || parsed.segments.includes(WILDCARD)) return { known: true, covers };
  const longer = shown(candidates[0]?.join('.') ?? '');
  return { known: false, reason: `it is only the beginning of permissions such as ${longer}` };
};
