import type { CrmPermission, Principal } from '@tessera/contracts';
import { type Gate, permissionsOf, unauthenticated } from '@tessera/http-kit';
import type { Request } from 'express';
import { GatedCaller } from './caller.ts';
import type { Answer } from './identity-client.ts';
import type { Holder } from './policies.ts';
import type { Identified } from './principals.ts';
import {
  permissionDenied,
  refusalOf,
  scopeDenied,
  tenantForbidden,
  tenantSuspended,
} from './refusals.ts';
import { everything, nothing, type Rights } from './rights.ts';

export interface GateOptions {
  readonly principals: {
    of(token: string, tenant?: string): Answer<Identified> | Promise<Answer<Identified>>;
  };
  readonly policies: { of(holder: Holder, token: string): Promise<Answer<Rights>> };
}

type Tenant = Principal['tenants'][number];

/** A token is anything that a header can carry; whether it is one is for identity to say. */
const BEARER = /^Bearer +([\x21-\x7e]{1,8192}) *$/i;

const tokenOf = (req: Request): string => {
  const token = BEARER.exec(req.headers.authorization ?? '')?.[1];
  if (token === undefined) throw unauthenticated('A token is needed: "Authorization: Bearer ...".');
  return token;
};

const SLUG = /^[\w-]{1,63}$/;

/** The slug of the tenant that a request names, as a client token has to (decision C5). */
const tenantNamed = (req: Request): string | undefined => req.headers['x-tenant']?.toString();

/** The tenant that a request acts in: the token's. Only administrators may name another. */
const tenantOf = (principal: Principal, named: string | undefined): Tenant => {
  const { tenants, tenant_id, is_system_admin } = principal;
  const tenant = tenants.find(({ id, slug }) =>
    named === undefined ? id === tenant_id : slug === named,
  );
  if (!tenant || (tenant.id !== tenant_id && !is_system_admin)) throw tenantForbidden();
  if (!tenant.is_active) throw tenantSuspended();
  return tenant;
};

const answered = <T>(answer: Answer<T>): T => {
  if (answer.outcome === 'answered') return answer.value;
  throw refusalOf(answer);
};

/** Who may pass: the caller first, then the tenant, then the token's scopes, then policies. */
export const createGate = ({ principals, policies }: GateOptions): Gate<GatedCaller> => {
  const rightsOf = async (caller: GatedCaller): Promise<Rights> => {
    const { principal, tenantId } = caller;
    if (principal.is_system_admin) return everything;
    // The scopes of a client token are its policies (decision C5).
    if (principal.type === 'client') return principal.scopes ? everything : nothing;
    const holder = { userId: principal.id, tenantId, version: principal.policies_version };
    return answered(await policies.of(holder, caller.token));
  };
  return {
    async authenticate(req) {
      const token = tokenOf(req);
      const named = tenantNamed(req);
      const forwarded = named !== undefined && SLUG.test(named) ? named : undefined;
      const identified = answered(await principals.of(token, forwarded));
      return new GatedCaller(token, identified, tenantOf(identified.principal, named));
    },
    async authorize(caller, route, req) {
      const needed = permissionsOf(route) as readonly CrmPermission[];
      const unscoped = needed.find((permission) => !caller.isInScope(permission));
      if (unscoped) throw scopeDenied(caller, unscoped);
      caller.hold(await rightsOf(caller));
      const missing = needed.find((permission) => !caller.can(permission));
      if (missing) throw permissionDenied(caller, missing, route, req);
    },
  };
};
