import { checkPermissionPattern, MAX_PATTERN_LENGTH, PolicyPayload } from '@tessera/contracts';
import { list, named, rawText, shape, withRule } from '@tessera/fields';

/** Why a pattern matches no permission. Patterns that are too long get an error of their own, without the value. */
const problem = (pattern: string): string | undefined => {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  const check = checkPermissionPattern(pattern);
  return check.known ? undefined : `is not known: ${check.reason}`;
};

/** A scope, or the action of a policy: a pattern that matches a known permission (decision B7). */
export const KnownPattern = withRule(rawText(MAX_PATTERN_LENGTH), problem);

/** Maximum number of policies of a role or a membership. */
const MAX_POLICIES = 200;

/** Policies in answers. */
export const Policies = list(PolicyPayload, { max: MAX_POLICIES });

/** Policies in requests: each pattern must match a known permission (decision B7). */
export const KnownPolicies = list(
  named('PolicyInput', shape({ ...PolicyPayload.fields, action: KnownPattern })),
  { max: MAX_POLICIES },
);
