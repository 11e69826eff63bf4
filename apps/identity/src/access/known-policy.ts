import { knowledgeOf, LONGEST_PATTERN, PolicyPayload } from '@tessera/contracts';
import { list, named, ruled, shape, verbatim } from '@tessera/fields';

/** What is too long is refused for that, and not repeated in the answer. */
const problem = (pattern: string): string | undefined => {
  if (pattern.length > LONGEST_PATTERN) return undefined;
  const knowledge = knowledgeOf(pattern);
  return knowledge.known ? undefined : `is not known: ${knowledge.reason}`;
};

/** A scope, or the action of a policy: a pattern that a permission fits (decision B7). */
export const KnownPattern = ruled(verbatim(LONGEST_PATTERN), problem);

/** Most policies that one role, or one membership, carries. */
const MOST = 200;

/** Policies as they are told. */
export const Policies = list(PolicyPayload, { max: MOST });

/** Policies as they are given: each names a pattern that a permission fits (decision B7). */
export const KnownPolicies = list(
  named('PolicyInput', shape({ ...PolicyPayload.fields, action: KnownPattern })),
  { max: MOST },
);
