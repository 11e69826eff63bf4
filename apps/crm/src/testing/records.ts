import { randomUUID } from 'node:crypto';
import type { Principal } from '@tessera/contracts';
import { createLogger } from '@tessera/http-kit';
import { GatedCaller } from '../access/caller.ts';
import { everything } from '../access/rights.ts';
import { createDatabase } from '../database.ts';
import type { Caller } from '../http.ts';
import { crmDatabase } from './crm.ts';

/** A fresh database for services that are tested without HTTP. */
export const openDatabase = async (url?: string) => {
  const config = { url: url ?? (await crmDatabase()), poolSize: 10 };
  const database = createDatabase(config, createLogger('crm', 'silent'));
  return { database, pool: database.pool, close: () => database.close() };
};

const entitled = (tenantId: string, who: Pick<Principal, 'id' | 'type'>): Caller => {
  const tenant = { id: tenantId, slug: 'acme', name: 'Acme', plan: 'starter', is_active: true };
  const principal: Principal = {
    ...who,
    email: null,
    name: null,
    client_id: null,
    impersonator_id: null,
    is_system_admin: false,
    is_service_account: false,
    tenant_id: tenantId,
    tenants: [tenant],
    token_id: null,
    session_id: null,
    policies_version: null,
    expires_at: null,
  };
  const caller = new GatedCaller('', { principal }, tenant);
  caller.hold(everything);
  return caller;
};

/** Somebody who may do everything in a tenant, which is a new one unless it is given. */
export const callerIn = (tenantId: string = randomUUID()): Caller =>
  entitled(tenantId, { id: randomUUID(), type: 'user' });

/** A client that may do everything in a new tenant. */
export const clientIn = (): Caller => entitled(randomUUID(), { id: 'pipeline', type: 'client' });
