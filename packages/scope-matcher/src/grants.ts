import type { Policy } from './decide.ts';
import { parsePattern, WILDCARD } from './pattern.ts';

/** What someone may do: what the policies allow and, where there are scopes, one of them covers too. */
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

/** The rules that cover permissions of this many segments. */
const ofLength = (rules: readonly Rule[], length: number): Rule[] =>
  rules.flatMap((rule) => {
    if (isEverything(rule)) return [{ ...rule, segments: Array(length).fill(WILDCARD) }];
    return rule.segments.length === length ? [rule] : [];
  });

/** Whether one of the rules covers everything below, whatever the segments from `position` on are. */
const coversRest = (rules: readonly Rule[], owner: Rights, role: Role, position: number): boolean =>
  rules.some(
    (rule) =>
      rule.owner === owner &&
      rule.role === role &&
      rule.segments.every((segment, index) => index < position || segment === WILDCARD),
  );

/** Given the rules that fit so far: does the owner hold everything below? At the end, the permission itself. */
const holdsRest = (rules: readonly Rule[], owner: Rights, position: number): boolean =>
  coversRest(rules, owner, 'allow', position) &&
  !rules.some((rule) => rule.owner === owner && rule.role === 'deny') &&
  (owner.scopes === undefined || coversRest(rules, owner, 'scope', position));

/**
 * What a change gives away: the permissions that `after` allows while neither `before` nor `holder`
 * does. A removed deny counts. Empty when nobody is raised above what the holder holds.
 *
 * Exact for every permission there could ever be, since new ones come with each release: rules can
 * tell two segments apart only where one of them names it, so one unnamed segment speaks for all.
 * It is written as `*` in the result, where it reads as "any other".
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
  // Copies, so that the three stay apart even where a caller passes the same object twice.
  const [given, had, held] = [{ ...after }, { ...before }, { ...holder }];
  const rules = [given, had, held].flatMap(rulesOf);
  const found: string[] = [];

  const walk = (path: readonly string[], length: number, fitting: readonly Rule[]): void => {
    const position = path.length;
    if (!fitting.some(({ owner, role }) => owner === given && role === 'allow')) return;
    // Where nothing below can be new, it need not be tried: or 200 rules would mean a million permissions.
    if (holdsRest(fitting, held, position) || holdsRest(fitting, had, position)) return;
    if (coversRest(fitting, given, 'deny', position)) return;
    if (position === length) {
      if (holdsRest(fitting, given, position)) found.push(path.join('.'));
      return;
    }
    for (const segment of new Set([...fitting.map((r) => `${r.segments[position]}`), WILDCARD])) {
      const next = fitting.filter(
        ({ segments }) => segments[position] === WILDCARD || segments[position] === segment,
      );
      walk([...path, segment], length, next);
    }
  };

  // One segment more than any rule has: only `*` alone reaches there.
  const longest = Math.max(0, ...rules.map(({ segments }) => segments.length));
  for (let length = 1; length <= longest + 1; length += 1)
    walk([], length, ofLength(rules, length));
  return found;
};
