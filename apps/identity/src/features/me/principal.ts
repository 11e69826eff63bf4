import type { PrincipalPayload } from '@tessera/contracts';
import type { Caller, CallerTenant, ClientCaller, UserCaller } from '../../tokens/caller.ts';
import { mayKnow } from '../../tokens/scopes.ts';

const presentTenant = ({ id, slug, name, plan, status }: CallerTenant) => ({
  id,
  slug,
  name,
  plan,
  is_active: status === 'active',
});

const presentUser = (caller: UserCaller): PrincipalPayload => ({
  id: caller.id,
  type: caller.type,
  email: mayKnow(caller, 'email') ? caller.email : null,
  name: mayKnow(caller, 'profile') ? `${caller.firstName} ${caller.lastName}`.trim() : null,
  tenant_id: caller.tenant?.id ?? null,
  is_system_admin: caller.isSystemAdmin,
  is_service_account: caller.type === 'service_account',
  tenants: caller.tenants.map(presentTenant),
  ...(caller.scopes && { scopes: [...caller.scopes] }),
  client_id: caller.clientId,
  ...(caller.impersonatorId && { impersonator_id: caller.impersonatorId }),
  token_id: caller.tokenId,
  ...(caller.sessionId && { session_id: caller.sessionId }),
  policies_version: caller.policiesVersion,
  expires_at: caller.expiresAt,
});

const presentClient = (caller: ClientCaller): PrincipalPayload => ({
  id: caller.id,
  type: caller.type,
  email: null,
  name: caller.name,
  tenant_id: null,
  is_system_admin: false,
  is_service_account: false,
  tenants: [],
  scopes: [...caller.scopes],
  client_id: caller.clientId,
  token_id: caller.tokenId,
  policies_version: null,
  expires_at: caller.expiresAt,
});

/** The principal of a caller, as returned to services (decision I9). */
export const presentPrincipal = (caller: Caller): PrincipalPayload =>
  caller.type === 'client' ? presentClient(caller) : presentUser(caller);

/** The same principal, acting in another tenant than the token's. */
export const inTenant = (
  principal: PrincipalPayload,
  tenant: CallerTenant,
  policiesVersion: number,
): PrincipalPayload => ({
  ...principal,
  tenant_id: tenant.id,
  tenants: [presentTenant(tenant), ...principal.tenants.filter(({ id }) => id !== tenant.id)],
  policies_version: policiesVersion,
});
