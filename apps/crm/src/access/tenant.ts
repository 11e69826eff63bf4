import type { Principal } from '@tessera/contracts';
import type { Request } from 'express';
import {
  otherTenantNamed,
  tenantForbidden,
  tenantSuspended,
  tenantUnnamed,
  unknownTenantNamed,
} from './refusals.ts';

export type Tenant = Principal['tenants'][number];

const SLUG = /^[\w-]{1,63}$/;

/** What a request says in `X-Tenant`, as a client token has to (decision C5). */
export const tenantNamed = (req: Request): string | undefined =>
  req.headers['x-tenant']?.toString();

/** What identity is told of it: nothing that cannot be a slug. */
export const slugNamed = (req: Request): string | undefined => {
  const named = tenantNamed(req);
  return named !== undefined && SLUG.test(named) ? named : undefined;
};

/** The tenant that a request acts in: the token's. Only administrators may name another. */
export const tenantOf = (principal: Principal, req: Request): Tenant => {
  const { type, tenants, tenant_id, is_system_admin } = principal;
  const named = tenantNamed(req);
  const mayName = type === 'client' || is_system_admin;
  const mustName = mayName && (type === 'client' || tenant_id === null);
  if (mustName && named === undefined) throw tenantUnnamed();
  const tenant = tenants.find(({ id, slug }) =>
    named === undefined ? id === tenant_id : slug === named,
  );
  if (!tenant || (tenant.id !== tenant_id && !is_system_admin)) {
    if (named === undefined) throw tenantForbidden();
    throw mayName ? unknownTenantNamed() : otherTenantNamed();
  }
  if (!tenant.is_active) throw tenantSuspended();
  return tenant;
};
