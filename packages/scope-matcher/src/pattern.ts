/** As a whole pattern it covers everything; as a segment of a pattern, any one segment. */
export const WILDCARD = '*';

export type ParsedPattern =
  | { readonly ok: true; readonly segments: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const LITERAL = /^[\w-]+$/;
const PERMISSION = /^[\w-]+(?:\.[\w-]+)*$/;

const problemOf = (segment: string): string | undefined => {
  if (segment === WILDCARD || LITERAL.test(segment)) return undefined;
  if (segment === '') return 'is empty';
  if (segment.includes(WILDCARD)) {
    return `(${JSON.stringify(segment)}) mixes * with other characters: * stands for one whole segment`;
  }
  return `(${JSON.stringify(segment)}) may contain only letters, digits, _ and -`;
};

/** Parses a scope or a policy action: segments separated by dots, each a literal or `*`. */
export const parsePattern = (text: string): ParsedPattern => {
  if (text === '') return { ok: false, reason: 'the pattern is empty' };
  const segments = text.split('.');
  for (const [index, segment] of segments.entries()) {
    const problem = problemOf(segment);
    if (problem) return { ok: false, reason: `segment ${index + 1} ${problem}` };
  }
  return { ok: true, segments };
};

/**
 * Whether a pattern covers a permission: `*` alone covers every permission, a `*` segment covers exactly one segment,
 * and any other segment covers itself. An invalid pattern covers nothing, and nothing covers an invalid permission.
 */
export const covers = (pattern: string, permission: string): boolean => {
  if (pattern === WILDCARD) return PERMISSION.test(permission);
  // Runs on every request: two cursors, no allocation, the expensive check last.
  let at = 0;
  let here = 0;
  while (at < pattern.length && here < permission.length) {
    if (pattern[at] === WILDCARD) {
      if (here > 0 && permission[here - 1] !== '.') return false;
      const dot = permission.indexOf('.', here);
      here = dot === -1 ? permission.length : dot;
    } else if (pattern[at] === permission[here]) {
      here += 1;
    } else {
      return false;
    }
    at += 1;
  }
  // A pattern that matches a valid permission segment by segment is valid itself.
  return at === pattern.length && here === permission.length && PERMISSION.test(permission);
};

/** Whether a pattern covers everything that another pattern or a permission covers. */
export const coversPattern = (pattern: string, other: string): boolean => {
  if (pattern === WILDCARD || pattern === other) return true;
  const own = pattern.split('.');
  const segments = other.split('.');
  return (
    own.length === segments.length &&
    own.every((segment, index) => segment === WILDCARD || segment === segments[index])
  );
};
