import type { CrmPermission } from '@tessera/contracts';
import { type Gate, permissionsOf, unauthenticated } from '@tessera/http-kit';
import type { Request } from 'express';
import { GatedCaller } from './caller.ts';
import type { Answer } from './identity-client.ts';
import type { Holder } from './policies.ts';
import type { Identified } from './principals.ts';
import { permissionDenied, refusalOf, scopeDenied } from './refusals.ts';
import { everything, nothing, type Rights } from './rights.ts';
import { slugNamed, tenantOf } from './tenant.ts';

interface KnownPrincipals {
  of(token: string, tenant?: string): Answer<Identified> | Promise<Answer<Identified>>;
}

interface KnownPolicies {
  of(holder: Holder, token: string): Promise<Answer<Rights>>;
}

export interface GateOptions {
  readonly principals: KnownPrincipals;
  readonly policies: KnownPolicies;
}

/** A token is anything that a header can carry; whether it is one is for identity to say. */
const BEARER = /^Bearer +([\x21-\x7e]{1,8192}) *$/i;

const tokenOf = (req: Request): string => {
  const token = BEARER.exec(req.headers.authorization ?? '')?.[1];
  if (token === undefined) throw unauthenticated('A token is needed: "Authorization: Bearer ...".');
  return token;
};

const answered = <T>(answer: Answer<T>): T => {
  if (answer.outcome === 'answered') return answer.value;
  throw refusalOf(answer);
};

const rightsOf = async (caller: GatedCaller, policies: KnownPolicies): Promise<Rights> => {
  const { principal, tenantId } = caller;
  if (principal.is_system_admin) return everything;
  // The scopes of a client token are its policies (decision C5).
  if (principal.type === 'client') return principal.scopes ? everything : nothing;
  const holder = { userId: principal.id, tenantId, version: principal.policies_version };
  return answered(await policies.of(holder, caller.token));
};

/** What a known caller may use: within the token's scopes first, then what policies allow. */
export const authorizeBy =
  (policies: KnownPolicies): Gate<GatedCaller>['authorize'] =>
  async (caller, route, req) => {
    const needed = permissionsOf(route) as readonly CrmPermission[];
    const unscoped = needed.find((permission) => !caller.isInScope(permission));
    if (unscoped) throw scopeDenied(caller, unscoped);
    caller.hold(await rightsOf(caller, policies));
    const missing = needed.find((permission) => !caller.can(permission));
    if (missing) throw permissionDenied(caller, missing, route, req);
  };

/** Who may pass: the caller first, then the tenant, then the token's scopes, then policies. */
export const createGate = ({ principals, policies }: GateOptions): Gate<GatedCaller> => ({
  async authenticate(req) {
    const token = tokenOf(req);
    const identified = answered(await principals.of(token, slugNamed(req)));
    return new GatedCaller(token, identified, tenantOf(identified.principal, req));
  },
  authorize: authorizeBy(policies),
});
