import type { Policy } from './decide.ts';
import { parsePattern, WILDCARD } from './pattern.ts';

/** The rights of a caller: what the policies allow and, if `scopes` is given, a scope also covers. */
export interface Rights {
  readonly policies: readonly Policy[];
  readonly scopes?: readonly string[] | undefined;
}

type Role = 'allow' | 'deny' | 'scope';
interface Rule {
  readonly owner: Rights;
  readonly role: Role;
  readonly segments: readonly string[];
}

const rulesOf = (owner: Rights): Rule[] => {
  const rule = (role: Role, pattern: string): Rule[] => {
    const parsed = parsePattern(pattern);
    return parsed.ok ? [{ owner, role, segments: parsed.segments }] : [];
  };
  return [
    ...owner.policies.flatMap(({ action, effect }) => rule(effect, action)),
    ...(owner.scopes ?? []).flatMap((scope) => rule('scope', scope)),
  ];
};

const isEverything = ({ segments }: Rule): boolean =>
  segments.length === 1 && segments[0] === WILDCARD;

/** The rules that can cover permissions of this many segments, with `*` alone expanded. */
const ofLength = (rules: readonly Rule[], length: number): Rule[] =>
  rules.flatMap((rule) => {
    if (isEverything(rule)) return [{ ...rule, segments: Array(length).fill(WILDCARD) }];
    return rule.segments.length === length ? [rule] : [];
  });

/** Whether one of the rules covers all possible segments from `position` on. */
const coversRest = (rules: readonly Rule[], owner: Rights, role: Role, position: number): boolean =>
  rules.some(
    (rule) =>
      rule.owner === owner &&
      rule.role === role &&
      rule.segments.every((segment, index) => index < position || segment === WILDCARD),
  );

/** Whether the owner holds every permission with this prefix, given the rules that match the prefix. */
const holdsRest = (rules: readonly Rule[], owner: Rights, position: number): boolean =>
  coversRest(rules, owner, 'allow', position) &&
  !rules.some((rule) => rule.owner === owner && rule.role === 'deny') &&
  (owner.scopes === undefined || coversRest(rules, owner, 'scope', position));

/**
 * The permissions that a change grants beyond what `holder` holds: `after` allows them, and neither `before` nor
 * `holder` does. A removed deny counts as a grant. Empty if the holder may make the change.
 *
 * Exact for every possible permission, including those of later releases: rules can distinguish two segments only
 * if one of them names it, so one unnamed segment stands for all others. It appears as `*` in the result.
 */
export const grantsBeyond = ({
  holder,
  before,
  after,
}: {
  readonly holder: Rights;
  readonly before: Rights;
  readonly after: Rights;
}): string[] => {
  // Copies, so that the three are distinct even if a caller passes the same object twice.
  const [given, had, held] = [{ ...after }, { ...before }, { ...holder }];
  const rules = [given, had, held].flatMap(rulesOf);
  const found: string[] = [];

  const walk = (path: readonly string[], length: number, matching: readonly Rule[]): void => {
    const position = path.length;
    if (!matching.some(({ owner, role }) => owner === given && role === 'allow')) return;
    // Prune prefixes where nothing can be new: otherwise 200 rules would mean a million permissions to try.
    if (holdsRest(matching, held, position) || holdsRest(matching, had, position)) return;
    if (coversRest(matching, given, 'deny', position)) return;
    if (position === length) {
      if (holdsRest(matching, given, position)) found.push(path.join('.'));
      return;
    }
    for (const segment of new Set([...matching.map((r) => `${r.segments[position]}`), WILDCARD])) {
      const next = matching.filter(
        ({ segments }) => segments[position] === WILDCARD || segments[position] === segment,
      );
      walk([...path, segment], length, next);
    }
  };

  // One segment more than the longest rule: only `*` alone covers that length.
  const longest = Math.max(0, ...rules.map(({ segments }) => segments.length));
  for (let length = 1; length <= longest + 1; length += 1)
    walk([], length, ofLength(rules, length));
  return found;
};
