import {
  int,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  shape,
  validate,
  verbatim,
} from '@tessera/fields';
import { type Policy, parsePattern } from '@tessera/scope-matcher';

/** The longest pattern that a scope or the action of a policy has, in characters. */
export const LONGEST_PATTERN = 200;

const action = verbatim(LONGEST_PATTERN);
const effect = oneOf('allow', 'deny');
const version = int(0, Number.MAX_SAFE_INTEGER);

/** One entry of `GET /api/policies`, and of what roles and memberships carry. */
export const PolicyPayload = named('Policy', shape({ action, effect }));

/** The `meta` of `GET /api/policies`: which state of the tenant's policies the list shows. */
export const PoliciesMeta = shape({ version: nullable(version) });
export type PoliciesMeta = Out<typeof PoliciesMeta>;

export interface Policies {
  readonly policies: readonly Policy[];
  /** Grows with every change in the tenant; absent where the issuer keeps none. */
  readonly version?: number;
}

const Entries = list(openShape({ action, effect }), { max: 10_000 });
const Wrapped = openShape({
  data: Entries,
  meta: optional(nullable(openShape({ version: optional(nullable(version)) }))),
});

/**
 * Reads an answer of `GET /api/policies`, in identity's envelope or as a bare list. Null when it is
 * neither, or holds a deny that the grammar does not know: to skip that one would allow too much.
 */
export const parsePolicies = (body: unknown): Policies | null => {
  const result = validate(Wrapped, Array.isArray(body) ? { data: body } : body);
  if (!result.ok) return null;
  const { data: policies, meta } = result.value;
  const isStrangeDeny = ({ action, effect }: Policy): boolean =>
    effect === 'deny' && !parsePattern(action).ok;
  if (policies.some(isStrangeDeny)) return null;
  return { policies, ...(typeof meta?.version === 'number' && { version: meta.version }) };
};
