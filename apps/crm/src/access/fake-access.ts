import type { Principal } from '@tessera/contracts';
import type { Access } from './access.ts';
import { GatedCaller } from './caller.ts';
import { authorizeBy } from './gate.ts';
import { nothing } from './rights.ts';
import { tenantOf } from './tenant.ts';

/** Whom everybody who calls is taken for. */
export interface FakeCaller {
  readonly userId: string;
  readonly tenantId: string;
  /** A system administrator may do everything, anybody else nothing. */
  readonly isAdmin: boolean;
}

const principalOf = ({ userId, tenantId, isAdmin }: FakeCaller): Principal => ({
  id: userId,
  type: 'user',
  email: null,
  name: 'Fake caller',
  tenant_id: tenantId,
  is_system_admin: isAdmin,
  is_service_account: false,
  policies_version: null,
  tenants: [{ id: tenantId, slug: 'local', name: 'Local', plan: null, is_active: true }],
  client_id: null,
  impersonator_id: null,
  token_id: null,
  session_id: null,
  expires_at: null,
});

/**
 * Fake authentication (crm.md section 5.5, decision C16), for work on CRM alone: every request comes
 * from one fixed caller in the tenant `local`, whatever token it carries. Nobody is asked about anything.
 */
export const createFakeAccess = (fake: FakeCaller): Access => {
  const principal = principalOf(fake);
  return {
    gate: {
      authenticate: async (req) => new GatedCaller('', { principal }, tenantOf(principal, req)),
      authorize: authorizeBy({ of: async () => ({ outcome: 'answered', value: nothing }) }),
    },
    stream: () => 'none',
    start: async () => undefined,
    stop: async () => undefined,
  };
};
