import { type CrmPermission, createPrincipal, type Principal } from '@tessera/contracts';
import type { Caller } from '../http.ts';

/** Who asked for work that is done later, as it is stored until then. */
export type StoredPrincipal = Pick<
  Principal,
  'id' | 'type' | 'client_id' | 'token_id' | 'impersonator_id'
>;

/** The part of a caller that is stored. */
export const principalOf = ({ principal }: Pick<Caller, 'principal'>): StoredPrincipal => {
  const { id, type, client_id, token_id, impersonator_id } = principal;
  return { id, type, client_id, token_id, impersonator_id };
};

/**
 * Whether work of one principal is done as that of the other. Tokens of users end when they are renewed; those of service
 * accounts have rights of their own.
 */
export const isSamePrincipal = (one: StoredPrincipal, other: StoredPrincipal): boolean =>
  one.type === other.type &&
  one.id === other.id &&
  one.impersonator_id === other.impersonator_id &&
  (one.type !== 'service_account' || one.token_id === other.token_id);

/** The principal, and what is stored next to it. */
interface Stored {
  readonly principal: StoredPrincipal;
  readonly user_id: string | null;
}

/**
 * The caller in whose name the work is done. It holds the permissions that the work needs, which the one who does it
 * has checked, and no other.
 */
export const callerOf = (
  tenantId: string,
  { principal, user_id }: Stored,
  permissions: readonly CrmPermission[],
): Caller => ({
  userUuid: user_id,
  tenantId,
  tenantSlug: '',
  isSystemAdmin: false,
  ...(principal.impersonator_id !== null && { impersonatorId: principal.impersonator_id }),
  principal: createPrincipal(principal),
  isInScope: (permission) => permissions.includes(permission),
  can: (permission) => permissions.includes(permission),
});
