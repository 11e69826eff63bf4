import {
  type EventData,
  type EventType,
  type IdentityEvent,
  type Principal,
  revoked,
} from '@tessera/contracts';
import type { Concerns } from './fetches.ts';
import type { PolicyChange } from './policy-cache.ts';

/** The caches that events make forget. */
export interface Caches {
  readonly principals: { evict(concerns: Concerns<Principal>): void };
  readonly policies: { evict(change: PolicyChange): void };
}

const isUser =
  (userId: string): Concerns<Principal> =>
  ({ id, impersonator_id }) =>
    id === userId || impersonator_id === userId;

const isOfTenant =
  (tenantId: string): Concerns<Principal> =>
  ({ tenant_id, tenants }) =>
    tenant_id === tenantId || tenants.some(({ id }) => id === tenantId);

/** A person of whom identity did not tell the id may be the one; keys and clients have no session. */
const mayBe = (caller: Principal, told: string | null, id: string): boolean =>
  told === id || (told === null && caller.type === 'user');

const isRevoked = (data: EventData<'identity.token.revoked'>): Concerns<Principal> => {
  const what = revoked(data);
  if (!what) return () => true;
  const { by, id } = what;
  // Nobody here knows who signed the token of a caller.
  if (by === 'kid') return () => true;
  if (by === 'user_id') return isUser(id);
  return (caller) => mayBe(caller, caller[by], id) || (by === 'client_id' && caller.id === id);
};

type Effects = { readonly [K in EventType]: (data: EventData<K>, caches: Caches) => void };

const effects: Effects = {
  'identity.policy.updated': ({ tenant_id, version, user_ids }, { policies }) =>
    policies.evict({ tenantId: tenant_id, version, userIds: user_ids }),
  'identity.user.updated': ({ user_id }, { principals }) => principals.evict(isUser(user_id)),
  'identity.user.deactivated': ({ user_id }, { principals }) => principals.evict(isUser(user_id)),
  'identity.tenant.status_changed': ({ tenant_id }, { principals }) =>
    principals.evict(isOfTenant(tenant_id)),
  'identity.token.revoked': (data, { principals }) => principals.evict(isRevoked(data)),
};

/** Makes the caches forget what an event of identity changes (decision E3); duplicates are harmless. */
export const applyEvent = ({ type, data }: IdentityEvent, caches: Caches): void =>
  effects[type](data as never, caches);
