import {
  type EventData,
  type EventType,
  type IdentityEvent,
  type Principal,
  revocationTarget,
} from '@tessera/contracts';
import type { Predicate } from './coherent-fetches.ts';
import type { PolicyChange } from './policy-cache.ts';

/** The caches that events invalidate. */
export interface Caches {
  readonly principals: { evict(affects: Predicate<Principal>): void };
  readonly policies: { evict(change: PolicyChange): void };
}

const isUser =
  (userId: string): Predicate<Principal> =>
  ({ id, impersonator_id }) =>
    id === userId || impersonator_id === userId;

const isMemberOf =
  (tenantId: string): Predicate<Principal> =>
  ({ tenant_id, tenants }) =>
    tenant_id === tenantId || tenants.some(({ id }) => id === tenantId);

/** A user whose id of this kind is unknown may be affected; API keys and clients have no session. */
const mayMatch = (caller: Principal, known: string | null, id: string): boolean =>
  known === id || (known === null && caller.type === 'user');

const isRevoked = (data: EventData<'identity.token.revoked'>): Predicate<Principal> => {
  const revocation = revocationTarget(data);
  if (!revocation) return () => true;
  const { by, id } = revocation;
  // Principals do not contain the id of the key that signed their token.
  if (by === 'kid') return () => true;
  if (by === 'user_id') return isUser(id);
  return (caller) => mayMatch(caller, caller[by], id) || (by === 'client_id' && caller.id === id);
};

type Handlers = { readonly [K in EventType]: (data: EventData<K>, caches: Caches) => void };

const handlers: Handlers = {
  'identity.policy.updated': ({ tenant_id, version, user_ids }, { policies }) =>
    policies.evict({ tenantId: tenant_id, version, userIds: user_ids }),
  'identity.user.updated': ({ user_id }, { principals }) => principals.evict(isUser(user_id)),
  'identity.user.deactivated': ({ user_id }, { principals }) => principals.evict(isUser(user_id)),
  'identity.tenant.status_changed': ({ tenant_id }, { principals }) =>
    principals.evict(isMemberOf(tenant_id)),
  'identity.token.revoked': (data, { principals }) => principals.evict(isRevoked(data)),
};

/** Removes from the caches what an event of identity changes (decision E3); a repeated event does no harm. */
export const applyEvent = ({ type, data }: IdentityEvent, caches: Caches): void =>
  handlers[type](data as never, caches);
