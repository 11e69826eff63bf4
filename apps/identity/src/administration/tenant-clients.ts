import { tenantClient, tenantClientId } from '@tessera/contracts';
import { noteCommand } from '../activity/activity.ts';
import {
  type ClientOwner,
  registerTenantClient,
  requireRedirectUris,
} from '../clients/registration.ts';
import type { Database, Transaction } from '../database.ts';

/** The result for the client of a tenant. */
export interface CompletedClient {
  readonly tenant: string;
  readonly client_id: string;
  /** `taken`: another client has the id, so the tenant has no client. */
  readonly result: 'created' | 'redirect_uris_set' | 'taken';
}

const BATCH = 500;
const TRANSACTION = { timeout: 60_000 };

/** Creates the clients of tenants that have none. Use `rotate-secret` to get a secret. */
export const addTenantClients = async (
  tx: Transaction,
  tenants: readonly ClientOwner[],
  templates: readonly string[],
): Promise<CompletedClient[]> => {
  const ids = tenants.map(({ slug }) => tenantClientId(slug));
  const there = await tx.oAuthClient.findMany({ where: { clientId: { in: ids } } });
  const owners = new Map(there.map(({ clientId, tenantId }) => [clientId, tenantId]));
  const completed: CompletedClient[] = [];
  for (const tenant of tenants) {
    const client_id = tenantClientId(tenant.slug);
    if (owners.get(client_id) === tenant.id) continue;
    const made = await registerTenantClient(tx, tenant, templates);
    completed.push({ tenant: tenant.slug, client_id, result: made ? 'created' : 'taken' });
  }
  return completed;
};

/** Sets the configured redirect URIs for clients that have none. */
const setMissingRedirectUris = async (
  tx: Transaction,
  tenants: readonly ClientOwner[],
  templates: readonly string[],
): Promise<CompletedClient[]> => {
  if (templates.length === 0) return [];
  const completed: CompletedClient[] = [];
  for (const tenant of tenants) {
    const { clientId, redirectUris } = tenantClient(tenant, templates);
    requireRedirectUris(clientId, redirectUris);
    const { count } = await tx.oAuthClient.updateMany({
      where: { clientId, tenantId: tenant.id, redirectUris: { isEmpty: true } },
      data: { redirectUris: [...redirectUris] },
    });
    if (count === 0) continue;
    completed.push({ tenant: tenant.slug, client_id: clientId, result: 'redirect_uris_set' });
  }
  return completed;
};

const actions = { created: 'client_created', redirect_uris_set: 'client_updated' } as const;

const noteCompleted = async (
  tx: Transaction,
  tenants: readonly ClientOwner[],
  completed: readonly CompletedClient[],
): Promise<void> => {
  const ids = new Map(tenants.map(({ id, slug }) => [slug, id]));
  for (const { tenant, client_id, result } of completed) {
    if (result === 'taken') continue;
    const tenantId = ids.get(tenant) ?? null;
    const command = `complete-tenant-clients ${client_id}`;
    await noteCommand(tx, command, actions[result], { tenantId });
  }
};

/**
 * Creates the client of every tenant that has none, and sets the configured redirect URIs for clients without any.
 * Returns the clients that it changed or could not create; others are left unchanged.
 */
export const completeTenantClients = async (
  database: Database,
  templates: readonly string[],
): Promise<CompletedClient[]> => {
  const completed: CompletedClient[] = [];
  let after: { readonly id: string } | undefined;
  do {
    const tenants: readonly ClientOwner[] = await database.tenant.findMany({
      where: after ? { id: { gt: after.id } } : {},
      orderBy: { id: 'asc' },
      take: BATCH,
      select: { id: true, slug: true, name: true },
    });
    const done = await database.$transaction(async (tx) => {
      const done = [
        ...(await addTenantClients(tx, tenants, templates)),
        ...(await setMissingRedirectUris(tx, tenants, templates)),
      ];
      await noteCompleted(tx, tenants, done);
      return done;
    }, TRANSACTION);
    completed.push(...done);
    after = tenants.length === BATCH ? tenants.at(-1) : undefined;
  } while (after);
  return completed;
};
