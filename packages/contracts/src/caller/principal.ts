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
  type Shape,
  shape,
  text,
  time,
  uuid,
  validate,
  verbatim,
} from '@tessera/fields';
import { LONGEST_PATTERN } from './policies.ts';

/** The most scopes that one token or client has. */
export const MOST_SCOPES = 1000;

const kind = oneOf('user', 'service_account', 'client');
const scopes = list(verbatim(LONGEST_PATTERN), { max: MOST_SCOPES });
const version = int(0, Number.MAX_SAFE_INTEGER);

export const PrincipalTenant = named(
  'PrincipalTenant',
  shape({ id: uuid(), slug: text(63), name: text(200), plan: text(100), is_active: bool() }),
);

/** What identity answers at `GET /api/user` (decision I9), inside its envelope. */
export const PrincipalPayload = named(
  'Principal',
  shape({
    /** A user's UUID, or the client id of a client token. */
    id: text(200),
    type: kind,
    email: nullable(text(254)),
    /** First and last name, 200 characters each, with a space between them. */
    name: nullable(text(401)),
    /** The token's tenant, which decides everywhere. */
    tenant_id: nullable(uuid()),
    is_system_admin: bool(),
    is_service_account: bool(),
    tenants: list(PrincipalTenant, { max: 10_000 }),
    /** Only where the token has them; no list means no limit, an empty one covers nothing. */
    scopes: optional(scopes),
    client_id: optional(text(200)),
    impersonator_id: optional(uuid()),
    token_id: text(200),
    session_id: optional(uuid()),
    /** Of the token's tenant; null where there is none. */
    policies_version: nullable(version),
    expires_at: time(),
  }),
);
export type PrincipalPayload = Out<typeof PrincipalPayload>;

/** A caller, as a service knows them from identity or from an issuer that tells less. */
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
  /** Absent: the token is not limited. Empty: nothing is covered. */
  readonly scopes?: readonly string[];
  readonly client_id: string | null;
  readonly impersonator_id: string | null;
  readonly token_id: string | null;
  readonly session_id: string | null;
  readonly policies_version: number | null;
  readonly expires_at: Date | null;
}

/** A caller with the facts that are given, and otherwise none: no tenant, no administrator, no limit. */
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

type MayMiss<F extends Fields> = { [K in keyof F]: OptionalField<Out<F[K]> | null> };

const mayMiss = <F extends Fields>({ fields }: Shape<F>): MayMiss<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, optional(nullable(field))]),
  ) as MayMiss<F>;

/** Text that is only shown: no length or blank of it may cost a caller their access. */
const shown = optional(nullable(verbatim(10_000, 0)));

const { id } = PrincipalPayload.fields;
const { id: tenantId, slug } = PrincipalTenant.fields;
const ReadableTenant = openShape({
  ...mayMiss(PrincipalTenant),
  id: tenantId,
  slug,
  name: shown,
  plan: shown,
});
/** Only what nobody can do without has to be there; all that is there has to be of its type. */
const Readable = openShape({
  ...mayMiss(PrincipalPayload),
  id,
  email: shown,
  name: shown,
  tenants: optional(nullable(list(ReadableTenant, { max: 10_000 }))),
});

const complete = (read: Out<typeof Readable>): Principal => ({
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
 * Reads an answer of `GET /api/user`, in identity's envelope or bare, whatever else it holds. Null when
 * it tells no caller, or tells one wrongly: a `scopes` that is no list must not read as "no limit".
 */
export const parsePrincipal = (body: unknown): Principal | null => {
  for (const candidate of [body, (body as { data?: unknown } | null | undefined)?.data]) {
    const result = validate(Readable, candidate);
    if (result.ok) return complete(result.value);
  }
  return null;
};
