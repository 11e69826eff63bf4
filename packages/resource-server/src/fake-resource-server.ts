import { createPrincipal } from '@tessera/contracts';
import { callerFor, GatedCaller } from './caller.ts';
import { authorizeWith } from './gate.ts';
import type { ResourceServer } from './resource-server.ts';
import { everything, nothing } from './rights.ts';
import { resolveTenant } from './tenant.ts';

/** The caller that every request comes from. */
export interface FakeCaller {
  readonly userId: string;
  readonly tenantId: string;
  /** A system administrator has every permission, anyone else none. */
  readonly isAdmin: boolean;
}

/**
 * Fake authentication (decision C16), for developing a service without identity: every request comes from
 * one fixed caller in the tenant `local`, whatever token it carries. Identity is never asked.
 * Never create it unless the environment is a developer's own.
 */
export const createFakeResourceServer = <Permission extends string = string>(
  service: string,
  { userId, tenantId, isAdmin }: FakeCaller,
): ResourceServer<Permission> => {
  const tenant = { id: tenantId, slug: 'local', name: 'Local', plan: null, is_active: true };
  const principal = createPrincipal({
    id: userId,
    name: 'Fake caller',
    tenant_id: tenantId,
    is_system_admin: isAdmin,
    tenants: [tenant],
  });
  return {
    gate: {
      authenticate: async (req) =>
        new GatedCaller<Permission>({
          service,
          token: '',
          authenticated: { principal },
          tenant: resolveTenant(principal, req),
        }),
      authorize: authorizeWith({ get: async () => ({ outcome: 'answered', value: nothing }) }),
    },
    stream: () => 'none',
    progress: () => new Map(),
    caches: {},
    onEvent: () => undefined,
    canAskRights: true,
    async rightsOf(actor) {
      if (actor.id !== userId || actor.tenantId !== tenantId) return { state: 'inactive' };
      const policies = isAdmin ? everything : nothing;
      const caller = callerFor<Permission>({
        service,
        principal,
        tenant,
        scopes: everything,
        policies,
      });
      return { state: 'active', caller };
    },
    tenantOf: async (id) =>
      id === tenantId ? { state: 'active', slug: tenant.slug } : { state: 'inactive' },
    start: async () => undefined,
    stop: async () => undefined,
  };
};
