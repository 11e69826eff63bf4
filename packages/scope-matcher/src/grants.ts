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

/** A change of what somebody may do, and the rights of the caller who makes it. */
export interface Change {
  readonly holder: Rights;
  readonly before: Rights;
  readonly after: Rights;
}

/** How many rules comparisons may still look at; they count down. */
export interface Effort {
  left: number;
}

/**
 * Whether another segment than an unnamed one must be tried because of a rule: only if it lets the change grant
 * something there, or takes something from the others. All other rules apply to the unnamed segment in no worse way.
 */
const distinguishes = ({ owner, role }: Rule, given: Rights): boolean =>
  (owner === given) !== (role === 'deny');

/**
 * Reports the permissions that a change grants until `report` returns false. Uses up `effort`; then reports the prefix
 * it has reached as a pattern, and ends.
 */
const search = (
  { holder, before, after }: Change,
  effort: Effort,
  report: (permission: string) => boolean,
): void => {
  // Copies, so that the three are distinct even if a caller passes the same object twice.
  const [given, had, held] = [{ ...after }, { ...before }, { ...holder }];
  const rules = [given, had, held].flatMap(rulesOf);

  /** Whether to go on. */
  const walk = (path: readonly string[], length: number, matching: readonly Rule[]): boolean => {
    const position = path.length;
    if (!matching.some(({ owner, role }) => owner === given && role === 'allow')) return true;
    // Prune prefixes where nothing can be new: otherwise 200 rules would mean a million permissions to try.
    if (holdsRest(matching, held, position) || holdsRest(matching, had, position)) return true;
    if (coversRest(matching, given, 'deny', position)) return true;
    if (position === length) {
      return !holdsRest(matching, given, position) || report(path.join('.'));
    }
    const named = matching.filter((rule) => distinguishes(rule, given));
    for (const segment of new Set([...named.map((r) => `${r.segments[position]}`), WILDCARD])) {
      effort.left -= matching.length;
      if (effort.left < 0) {
        report([...path, ...Array(length - position).fill(WILDCARD)].join('.'));
        return false;
      }
      const next = matching.filter(
        ({ segments }) => segments[position] === WILDCARD || segments[position] === segment,
      );
      if (!walk([...path, segment], length, next)) return false;
    }
    return true;
  };

  // One segment more than the longest rule: only `*` alone covers that length.
  const longest = Math.max(0, ...rules.map(({ segments }) => segments.length));
  for (let length = 1; length <= longest + 1; length += 1) {
    effort.left -= rules.length;
    if (!walk([], length, ofLength(rules, length))) return;
  }
};

/**
 * The permissions that a change grants beyond what `holder` holds: `after` allows them, and neither `before` nor
 * `holder` does. A removed deny counts as a grant. Empty if the holder may make the change.
 *
 * Exact for every possible permission, including those of later releases: rules can distinguish two segments only
 * if one of them names it, so one unnamed segment stands for all others. It appears as `*` in the result.
 */
export const grantsBeyond = (change: Change): string[] => {
  const found: string[] = [];
  search(change, { left: Number.POSITIVE_INFINITY }, (permission) => {
    found.push(permission);
    return true;
  });
  return found;
};

/**
 * The first permission that `grantsBeyond` returns; undefined if the holder may make the change. Whoever chooses the
 * rules can make a comparison long. Once `effort` is used up, it returns a pattern of permissions that the change
 * may grant in part and the holder does not hold in full, so that the change is refused.
 */
export const firstGrantBeyond = (change: Change, effort: Effort): string | undefined => {
  let first: string | undefined;
  search(change, effort, (permission) => {
    first = permission;
    return false;
  });
  return first;
};
