import {
  int,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  rawText,
  shape,
  validate,
} from '@tessera/fields';
import { type Policy, parsePattern } from '@tessera/scope-matcher';

/** The maximum length of a scope or a policy action, in characters. */
export const MAX_PATTERN_LENGTH = 200;

const action = rawText(MAX_PATTERN_LENGTH);
const effect = oneOf('allow', 'deny');
const version = int(0, Number.MAX_SAFE_INTEGER);

/** A policy in `GET /api/policies`, in roles, and in memberships. */
export const PolicyPayload = named('Policy', shape({ action, effect }));

/** The `meta` of `GET /api/policies`: the version of the tenant's policies. */
export const PoliciesMeta = shape({ version: nullable(version) });
export type PoliciesMeta = Out<typeof PoliciesMeta>;

export interface Policies {
  readonly policies: readonly Policy[];
  /** Grows with every change in the tenant; absent if the issuer does not send it. */
  readonly version?: number;
}

const Entries = list(openShape({ action, effect }), { max: 10_000 });
const Wrapped = openShape({
  data: Entries,
  meta: optional(nullable(openShape({ version: optional(nullable(version)) }))),
});

/**
 * Parses a response of `GET /api/policies`, in identity's envelope or as a bare list. Null if it is neither, or if it
 * contains a deny that does not parse: ignoring that deny would allow too much.
 */
export const parsePolicies = (body: unknown): Policies | null => {
  const result = validate(Wrapped, Array.isArray(body) ? { data: body } : body);
  if (!result.ok) return null;
  const { data: policies, meta } = result.value;
  const isInvalidDeny = ({ action, effect }: Policy): boolean =>
    effect === 'deny' && !parsePattern(action).ok;
  if (policies.some(isInvalidDeny)) return null;
  return { policies, ...(typeof meta?.version === 'number' && { version: meta.version }) };
};
