import { randomUUID } from 'node:crypto';
import { createPrincipal, type Principal } from '@tessera/contracts';
import { GatedCaller } from '../caller.ts';
import { everything } from '../rights.ts';

export interface AuthorizedCallerOptions {
  /** The service whose permissions are meant. */
  readonly service: string;
  /** A new one unless given. */
  readonly tenantId?: string;
  /** A new user unless given. */
  readonly principal?: Pick<Principal, 'id' | 'type'>;
}

/** A caller with every permission in a tenant, for tests without HTTP. */
export const authorizedCaller = <Permission extends string = string>({
  service,
  tenantId = randomUUID(),
  principal = { id: randomUUID(), type: 'user' },
}: AuthorizedCallerOptions): GatedCaller<Permission> => {
  const tenant = { id: tenantId, slug: 'acme', name: 'Acme', plan: 'starter', is_active: true };
  const caller = new GatedCaller<Permission>({
    service,
    token: '',
    authenticated: {
      principal: createPrincipal({ ...principal, tenant_id: tenantId, tenants: [tenant] }),
    },
    tenant,
  });
  caller.setPolicies(everything);
  return caller;
};
