import type { Principal } from '@tessera/contracts';
import type { Request } from 'express';
import {
  notInTenant,
  otherTenant,
  tenantRequired,
  tenantSuspended,
  unknownTenant,
} from './errors.ts';

export type Tenant = Principal['tenants'][number];

const SLUG = /^[\w-]{1,63}$/;

/** The tenant's slug in `X-Tenant`, which client tokens need (decision C5). */
const tenantHeader = (req: Request): string | undefined => req.headers['x-tenant']?.toString();

/** `X-Tenant` as it is forwarded to identity: only if it can be a slug. */
export const tenantHeaderForIdentity = (req: Request): string | undefined => {
  const slug = tenantHeader(req);
  return slug !== undefined && SLUG.test(slug) ? slug : undefined;
};

/** The tenant that a request acts in: that of the token. Only clients and administrators may name another. */
export const resolveTenant = (principal: Principal, req: Request): Tenant => {
  const { type, tenants, tenant_id, is_system_admin } = principal;
  const requested = tenantHeader(req);
  const mayChoose = type === 'client' || is_system_admin;
  const mustChoose = mayChoose && (type === 'client' || tenant_id === null);
  if (mustChoose && requested === undefined) throw tenantRequired();
  const tenant = tenants.find(({ id, slug }) =>
    requested === undefined ? id === tenant_id : slug === requested,
  );
  if (!tenant || (tenant.id !== tenant_id && !is_system_admin)) {
    if (requested === undefined) throw notInTenant();
    throw mayChoose ? unknownTenant() : otherTenant();
  }
  if (!tenant.is_active) throw tenantSuspended();
  return tenant;
};
