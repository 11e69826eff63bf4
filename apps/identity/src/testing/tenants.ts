import { randomBytes } from 'node:crypto';
import { DeploymentAutomationStandIn } from '@tessera/local-stack';
import type { Test } from 'supertest';
import type { Tenant } from '../generated/prisma/client.ts';
import { CrmStandIn } from './crm.ts';
import { startIdentity, type TestIdentity } from './identity.ts';
import type { Bearer } from './population.ts';

/** Identity with everything that the administration of tenants reaches, and an administrator. */
export interface TenantWorld {
  readonly identity: TestIdentity;
  readonly automation: DeploymentAutomationStandIn;
  readonly crm: CrmStandIn;
  readonly administrator: Bearer;
  /** Sends a request as the administrator. */
  ask(method: 'get' | 'post' | 'put' | 'delete', path: string): Test;
  /** The tenant as it is stored; null where it is gone. */
  stored(of: Pick<Tenant, 'id'>): Promise<Tenant | null>;
  /** What the activity log says was done in a tenant, in order. */
  done(of: Pick<Tenant, 'id'>): Promise<string[]>;
  /** The statuses that were told of a tenant, in order. */
  told(of: Pick<Tenant, 'id'>): Promise<string[]>;
  /** Those of this identity, for another one on its database. */
  readonly keyEncryptionKeys: string;
  stop(): Promise<void>;
}

/** Has everything done in the next round that waits for deployment automation, as if the time had come. */
export const makeAllDue = async ({ identity }: Pick<TenantWorld, 'identity'>): Promise<void> => {
  // Of a tenant that is being created the row is held: it is not due before that has ended.
  await identity.context.pool.query(`
    UPDATE identity.tenant_deployments SET due_at = now() WHERE tenant_id IN (
      SELECT tenant_id FROM identity.tenant_deployments
      WHERE due_at IS NOT NULL FOR UPDATE SKIP LOCKED)`);
};

export const startTenantWorld = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<TenantWorld> => {
  const keyEncryptionKeys = `test:${randomBytes(32).toString('base64')}`;
  const automation = await new DeploymentAutomationStandIn().start();
  const crm = await new CrmStandIn().start();
  const identity = await startIdentity({
    KEY_ENCRYPTION_KEYS: keyEncryptionKeys,
    ...automation.environment,
    ...crm.environment,
    // Nothing settles by itself: a test does it when it has seen what was before.
    PROVISIONING_CHECK_SECONDS: '3600',
    ...environment,
  });
  const { database } = identity.context;
  const user = await identity.people.user({ data: { isSystemAdmin: true } });
  const administrator = await identity.people.signIn(user);
  return {
    identity,
    automation,
    crm,
    administrator,
    keyEncryptionKeys,
    ask: (method, path) => identity.http[method](path).set(administrator),
    stored: ({ id }) => database.tenant.findUnique({ where: { id } }),
    async done({ id }) {
      const entries = await database.activityEntry.findMany({
        where: { tenantId: id },
        orderBy: { id: 'asc' },
      });
      return entries.map(({ action }) => action);
    },
    async told({ id }) {
      const events = await database.outboxEvent.findMany({
        where: { key: id, topic: 'identity.tenant.status_changed' },
        orderBy: { id: 'asc' },
      });
      return events.map(({ payload }) => (payload as { data: { status: string } }).data.status);
    },
    async stop() {
      await identity.stop();
      await crm.stop();
      await automation.stop();
    },
  };
};
