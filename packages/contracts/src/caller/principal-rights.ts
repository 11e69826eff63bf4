import {
  bool,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  rawText,
  shape,
  text,
  validate,
} from '@tessera/fields';
import { type Policy, parsePattern } from '@tessera/scope-matcher';
import { MAX_PATTERN_LENGTH, PolicyPayload } from './policies.ts';
import { MAX_SCOPES } from './principal.ts';

/** The kinds of principals whose rights can be asked for. */
export const principalType = oneOf('user', 'service_account', 'client');

/** The `data` of `GET /api/tenants/{tenantId}/rights`. */
export const PrincipalRightsPayload = named(
  'PrincipalRights',
  shape({
    /**
     * Whether the principal can act in the tenant now. If not, the other members are null, false or empty, and the
     * response does not say why.
     */
    active: bool(),
    tenant_slug: nullable(text(63)),
    is_system_admin: bool(),
    policies: list(PolicyPayload, { max: 10_000 }),
    /** Absent unless the API key that was named is limited by scopes. */
    scopes: optional(list(rawText(MAX_PATTERN_LENGTH), { max: MAX_SCOPES })),
  }),
);
export type PrincipalRightsPayload = Out<typeof PrincipalRightsPayload>;

/** What a principal may do in a tenant. */
export interface PrincipalRights {
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  readonly policies: readonly Policy[];
  /** Absent if the rights are not limited by scopes. */
  readonly scopes?: readonly string[];
}

const { fields } = PrincipalRightsPayload;
const Wrapped = openShape({
  data: openShape({
    active: fields.active,
    tenant_slug: fields.tenant_slug,
    is_system_admin: fields.is_system_admin,
    policies: list(openShape(PolicyPayload.fields), { max: 10_000 }),
    scopes: fields.scopes,
  }),
});

/**
 * Parses a response about the rights of a principal; `inactive` if it cannot act in the tenant. Null if it is not such
 * a response, or if it contains a deny that does not parse: ignoring that deny would allow too much.
 */
export const parsePrincipalRights = (body: unknown): PrincipalRights | 'inactive' | null => {
  const result = validate(Wrapped, body);
  if (!result.ok) return null;
  const { active, tenant_slug: tenantSlug, is_system_admin, policies, scopes } = result.value.data;
  if (!active) return 'inactive';
  const hasInvalidDeny = policies.some(
    ({ action, effect }) => effect === 'deny' && !parsePattern(action).ok,
  );
  if (tenantSlug === null || hasInvalidDeny) return null;
  const rights = { tenantSlug, isSystemAdmin: is_system_admin, policies };
  return scopes ? { ...rights, scopes } : rights;
};
