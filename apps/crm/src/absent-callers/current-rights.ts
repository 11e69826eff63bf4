import type { CrmPermission } from '@tessera/contracts';
import type { HttpError } from '@tessera/http-kit';
import type { AbsentActor, CurrentRights, ResourceServer } from '@tessera/resource-server';
import type { Caller } from '../http.ts';
import type { StoredPrincipal } from './stored-principal.ts';

/** How CRM learns the rights of principals who are not present. */
export type RightsSource = Pick<ResourceServer<CrmPermission>, 'canAskRights' | 'rightsOf'>;

/** The same, and whether a tenant is active: nobody has rights in one that is suspended. */
export type SuspendableRightsSource = RightsSource & Pick<ResourceServer, 'tenantOf'>;

/** Whether a principal who is not present has the permissions that something needs. */
export type HeldRights =
  | { readonly state: 'kept'; readonly caller: Caller }
  | { readonly state: 'lost' }
  /** Identity did not answer, or CRM has no client there. Must not be treated as `kept`. */
  | { readonly state: 'unknown'; readonly error: HttpError };

/** Whether a principal still has all of the permissions. */
export const heldRights = async (
  access: RightsSource,
  actor: AbsentActor,
  permissions: readonly CrmPermission[],
): Promise<HeldRights> => {
  const rights: CurrentRights<CrmPermission> = await access.rightsOf(actor);
  if (rights.state === 'unknown') return rights;
  const isAllowed =
    rights.state === 'active' && permissions.every((permission) => rights.caller.can(permission));
  return isAllowed ? { state: 'kept', caller: rights.caller } : { state: 'lost' };
};

/** The same, except that the rights of everybody in a tenant that is not active are `suspended`, not lost. */
export const heldUnlessSuspended = async (
  access: SuspendableRightsSource,
  actor: AbsentActor,
  permissions: readonly CrmPermission[],
): Promise<HeldRights | { readonly state: 'suspended' }> => {
  const rights = await heldRights(access, actor, permissions);
  if (rights.state !== 'lost') return rights;
  const tenant = await access.tenantOf(actor.tenantId);
  if (tenant.state === 'unknown') return tenant;
  return tenant.state === 'active' ? rights : { state: 'suspended' };
};

/** A stored principal, to ask for its rights; also the administrator who acted as the user must still be one. */
export const actorFor = (
  tenantId: string,
  { id, type, token_id: tokenId, impersonator_id: impersonatorId }: StoredPrincipal,
): AbsentActor => ({ tenantId, id, type, tokenId, impersonatorId });
