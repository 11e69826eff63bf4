import { knowledgeOf, LONGEST_PATTERN, PolicyPayload } from '@tessera/contracts';
import { list, named, ruled, shape, verbatim } from '@tessera/fields';

/** Why a pattern matches no permission. Patterns that are too long get an error of their own, without the value. */
const problem = (pattern: string): string | undefined => {
  if (pattern.length > LONGEST_PATTERN) return undefined;
  const knowledge = knowledgeOf(pattern);
  return knowledge.known ? undefined : `is not known: ${knowledge.reason}`;
};

/** A scope, or the action of a policy: a pattern that matches a known permission (decision B7). */
export const KnownPattern = ruled(verbatim(LONGEST_PATTERN), problem);

/** Maximum number of policies of a role or a membership. */
const MOST = 200;

/** Policies in answers. */
export const Policies = list(PolicyPayload, { max: MOST });

/** Policies in requests: each pattern must match a known permission (decision B7). */
export const KnownPolicies = list(
  named('PolicyInput', shape({ ...PolicyPayload.fields, action: KnownPattern })),
  { max: MOST },
);
