import {
  bool,
  type Fields,
  int,
  list,
  named,
  nullable,
  type OptionalField,
  type Out,
  oneOf,
  openShape,
  optional,
  rawText,
  type Shape,
  shape,
  text,
  time,
  uuid,
  validate,
} from '@tessera/fields';
import { MAX_PATTERN_LENGTH } from './policies.ts';

/** The maximum number of scopes of a token or a client. */
export const MAX_SCOPES = 1000;

const kind = oneOf('user', 'service_account', 'client');
const scopes = list(rawText(MAX_PATTERN_LENGTH), { max: MAX_SCOPES });
const version = int(0, Number.MAX_SAFE_INTEGER);

export const PrincipalTenant = named(
  'PrincipalTenant',
  shape({ id: uuid(), slug: text(63), name: text(200), plan: text(100), is_active: bool() }),
);

/** The `data` of `GET /api/user` (decision I9). */
export const PrincipalPayload = named(
  'Principal',
  shape({
    /** The UUID of a user, or the client id of a client. */
    id: text(200),
    type: kind,
    email: nullable(text(254)),
    /** First and last name, up to 200 characters each, separated by a space. */
    name: nullable(text(401)),
    /** The tenant of the token, which is the tenant that the caller acts in. */
    tenant_id: nullable(uuid()),
    is_system_admin: bool(),
    is_service_account: bool(),
    tenants: list(PrincipalTenant, { max: 10_000 }),
    /** Absent if the token is not limited by scopes; an empty list covers nothing. */
    scopes: optional(scopes),
    client_id: optional(text(200)),
    impersonator_id: optional(uuid()),
    token_id: text(200),
    session_id: optional(uuid()),
    /** The version of the policies in the tenant of the token; null without a tenant. */
    policies_version: nullable(version),
    expires_at: time(),
  }),
);
export type PrincipalPayload = Out<typeof PrincipalPayload>;

/** A caller as identity describes them; members that an issuer does not send are null. */
export interface Principal {
  readonly id: string;
  readonly type: 'user' | 'service_account' | 'client';
  readonly email: string | null;
  readonly name: string | null;
  readonly tenant_id: string | null;
  readonly is_system_admin: boolean;
  readonly is_service_account: boolean;
  readonly tenants: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly plan: string | null;
    readonly is_active: boolean;
  }[];
  /** Absent if the token is not limited by scopes; an empty list covers nothing. */
  readonly scopes?: readonly string[];
  readonly client_id: string | null;
  readonly impersonator_id: string | null;
  readonly token_id: string | null;
  readonly session_id: string | null;
  readonly policies_version: number | null;
  readonly expires_at: Date | null;
}

/** Creates a principal; what is not given is null, false, or empty: no tenant, no rights, no scopes. */
export const createPrincipal = (
  known: Pick<Principal, 'id'> & Partial<Omit<Principal, 'id'>>,
): Principal => ({
  type: 'user',
  email: null,
  name: null,
  tenant_id: null,
  is_system_admin: false,
  is_service_account: false,
  tenants: [],
  client_id: null,
  impersonator_id: null,
  token_id: null,
  session_id: null,
  policies_version: null,
  expires_at: null,
  ...known,
});

type Nullish<F extends Fields> = { [K in keyof F]: OptionalField<Out<F[K]> | null> };

const nullish = <F extends Fields>({ fields }: Shape<F>): Nullish<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, optional(nullable(field))]),
  ) as Nullish<F>;

/** Text for display only: its length or an empty value must not cost a caller their access. */
const shown = optional(nullable(rawText(10_000, 0)));

const { id } = PrincipalPayload.fields;
const { id: tenantId, slug } = PrincipalTenant.fields;
const AcceptedTenant = openShape({
  ...nullish(PrincipalTenant),
  id: tenantId,
  slug,
  name: shown,
  plan: shown,
});
/** Requires only what no service can do without; whatever is present must have its type. */
const AcceptedPrincipal = openShape({
  ...nullish(PrincipalPayload),
  id,
  email: shown,
  name: shown,
  tenants: optional(nullable(list(AcceptedTenant, { max: 10_000 }))),
});

const complete = (read: Out<typeof AcceptedPrincipal>): Principal => ({
  id: read.id,
  type: read.type ?? (read.is_service_account ? 'service_account' : 'user'),
  email: read.email ?? null,
  name: read.name ?? null,
  tenant_id: read.tenant_id ?? null,
  is_system_admin: read.is_system_admin ?? false,
  is_service_account: read.is_service_account ?? read.type === 'service_account',
  tenants: (read.tenants ?? []).map(({ id, slug, name, plan, is_active }) => ({
    id,
    slug,
    name: name ?? slug,
    plan: plan ?? null,
    is_active: is_active ?? true,
  })),
  ...(read.scopes && { scopes: read.scopes }),
  client_id: read.client_id ?? null,
  impersonator_id: read.impersonator_id ?? null,
  token_id: read.token_id ?? null,
  session_id: read.session_id ?? null,
  policies_version: read.policies_version ?? null,
  expires_at: read.expires_at ?? null,
});

/**
 * Parses a response of `GET /api/user`, in identity's envelope or bare; ignores unknown members. Null if it is not a
 * principal or a member has the wrong type: a `scopes` that is not a list must not mean "not limited".
 */
export const parsePrincipal = (body: unknown): Principal | null => {
  for (const candidate of [body, (body as { data?: unknown } | null | undefined)?.data]) {
    const result = validate(AcceptedPrincipal, candidate);
    if (result.ok) return complete(result.value);
  }
  return null;
};
