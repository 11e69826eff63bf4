import type { Principal } from '@tessera/contracts';
import {
  bearerToken,
  type Gate,
  permissionDenied,
  permissionsOf,
  resourceIdOf,
} from '@tessera/http-kit';
import { GatedCaller } from './caller.ts';
import { errorOf, scopeDenied } from './errors.ts';
import type { IdentityResult } from './identity-client.ts';
import type { Holder } from './policy-cache.ts';
import type { AuthenticatedToken } from './principal-cache.ts';
import { everything, nothing, type Rights } from './rights.ts';
import { resolveTenant, tenantHeaderForIdentity } from './tenant.ts';

interface Principals {
  get(
    token: string,
    tenant?: string,
  ): IdentityResult<AuthenticatedToken> | Promise<IdentityResult<AuthenticatedToken>>;
}

interface Policies {
  get(holder: Holder, token: string): Promise<IdentityResult<Rights>>;
}

interface Watches {
  watch(principal: Principal, tenantId: string, changed: () => void): () => void;
}

export interface GateOptions {
  /** The service's name in permissions: `crm`. */
  readonly service: string;
  readonly principals: Principals;
  readonly policies: Policies;
  readonly watches: Watches;
}

const answered = <T>(answer: IdentityResult<T>): T => {
  if (answer.outcome === 'answered') return answer.value;
  throw errorOf(answer);
};

const policiesOf = async (caller: GatedCaller, policies: Policies): Promise<Rights> => {
  const { principal, tenantId } = caller;
  if (principal.is_system_admin) return everything;
  // The scopes of a client token are its policies (decision C5).
  if (principal.type === 'client') return principal.scopes ? everything : nothing;
  const holder = { userId: principal.id, tenantId, version: principal.policies_version };
  return answered(await policies.get(holder, caller.token));
};

/** Returns the check of a route's permissions: first by the scopes of the token, then by the caller's policies. */
export const authorizeWith =
  (policies: Policies): Gate<GatedCaller>['authorize'] =>
  async (caller, route, req) => {
    const required = permissionsOf(route);
    const unscoped = required.find((permission) => !caller.isInScope(permission));
    if (unscoped !== undefined) throw scopeDenied(caller.permissionName(unscoped));
    caller.setPolicies(await policiesOf(caller, policies));
    const missing = required.find((permission) => !caller.can(permission));
    if (missing === undefined) return;
    throw permissionDenied(caller.permissionName(missing), {
      resourceType: route.resource ?? null,
      resourceId: resourceIdOf(route, req),
      userId: caller.principal.id,
    });
  };

/** Authenticates the caller and their tenant, then authorizes them by the token's scopes and their policies. */
export const createGate = <Permission extends string>({
  service,
  principals,
  policies,
  watches,
}: GateOptions): Gate<GatedCaller<Permission>> => ({
  async authenticate(req) {
    const token = bearerToken(req);
    const authenticated = answered(await principals.get(token, tenantHeaderForIdentity(req)));
    const tenant = resolveTenant(authenticated.principal, req);
    return new GatedCaller({ service, token, authenticated, tenant });
  },
  authorize: authorizeWith(policies),
  watch: ({ principal, tenantId }, changed) => watches.watch(principal, tenantId, changed),
  renew: (caller, latest) => caller.renew(latest),
});
