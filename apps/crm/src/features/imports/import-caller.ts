import { type CrmPermission, createPrincipal, type Principal } from '@tessera/contracts';
import type { Caller } from '../../http.ts';

/** Who created an import, as it is stored until the import has run. */
export type ImportPrincipal = Pick<
  Principal,
  'id' | 'type' | 'client_id' | 'token_id' | 'impersonator_id'
>;

/** The part of a caller that its import stores. */
export const principalOf = ({ principal }: Caller): ImportPrincipal => {
  const { id, type, client_id, token_id, impersonator_id } = principal;
  return { id, type, client_id, token_id, impersonator_id };
};

/**
 * The caller in whose name an import changes records. It holds the permissions that were checked when the
 * import was created, and no other.
 */
export const importCaller = (
  tenantId: string,
  { principal, user_id }: { readonly principal: ImportPrincipal; readonly user_id: string | null },
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
