import { parsePattern, WILDCARD } from './pattern.ts';

export type PatternCheck =
  /** `covers` is the number of known permissions that it covers; 0 for the beginning of some, such as `identity.*`. */
  | { readonly known: true; readonly covers: number }
  | { readonly known: false; readonly reason: string };

/** A registered name may contain placeholders, which match any literal: `tenant.{slug}.crm.tasks.view`. */
const isPlaceholder = (segment: string): boolean => segment.startsWith('{');

/**
 * Checks whether a pattern can match a registered permission: it is `*`, covers one, or contains a wildcard and is the
 * beginning of one. Otherwise, the reason names the first segment that no permission has, or a permission of which the
 * pattern is only the beginning.
 */
export const checkPattern = (pattern: string, registry: readonly string[]): PatternCheck => {
  const parsed = parsePattern(pattern);
  if (!parsed.ok) return { known: false, reason: parsed.reason };
  if (pattern === WILDCARD) return { known: true, covers: registry.length };
  let candidates = registry.map((permission) => permission.split('.'));
  for (const [index, segment] of parsed.segments.entries()) {
    candidates = candidates.filter((permission) => {
      const own = permission[index];
      return own !== undefined && (segment === WILDCARD || segment === own || isPlaceholder(own));
    });
    if (candidates.length === 0) {
      const before = parsed.segments.slice(0, index).join('.');
      const where = before && ` after ${JSON.stringify(before)}`;
      const reason = `no permission has ${JSON.stringify(segment)} as segment ${index + 1}${where}`;
      return { known: false, reason };
    }
  }
  const { length } = parsed.segments;
  const covers = candidates.filter((own) => own.length === length).length;
  if (covers > 0 || parsed.segments.includes(WILDCARD)) return { known: true, covers };
  const longer = candidates[0]?.join('.');
  return { known: false, reason: `it is only the beginning of permissions such as ${longer}` };
};
