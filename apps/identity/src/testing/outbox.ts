import { createLogger } from '@tessera/http-kit';
import { createDatabase, type Database } from '../database.ts';
import { bumpPolicyVersion, enqueue } from '../outbox/outbox.ts';
import { identityDatabase } from './identity.ts';

export const TOPIC = 'identity.policy.updated';

/** A migrated database with two tenants, and no relay. */
export interface TestOutbox {
  readonly url: string;
  readonly database: Database;
  readonly tenantIds: readonly string[];
  /** Whether no event waits any more. */
  allSent(): Promise<boolean>;
  close(): Promise<void>;
}

export const makeOutbox = async (): Promise<TestOutbox> => {
  const url = await identityDatabase();
  const logger = createLogger('test', 'silent');
  const { pool, database } = createDatabase({ url, poolSize: 10 }, logger);
  const tenantIds: string[] = [];
  for (const slug of ['acme', 'globex']) {
    tenantIds.push((await database.tenant.create({ data: { slug, name: slug } })).id);
  }
  return {
    url,
    database,
    tenantIds,
    allSent: async () => (await database.outboxEvent.count({ where: { publishedAt: null } })) === 0,
    async close() {
      await database.$disconnect();
      await pool.end();
    },
  };
};

/** Changes the policies of a tenant, or of some of its users, as a feature does. */
export const change = (
  database: Database,
  tenantId: string,
  userIds: string[] | null = null,
): Promise<void> =>
  database.$transaction(async (tx) => {
    const version = await bumpPolicyVersion(tx, tenantId);
    await enqueue(tx, { type: TOPIC, data: { tenant_id: tenantId, version, user_ids: userIds } });
  });

/** The versions of each tenant's events, in the order in which they were published. */
export const versionsByTenant = (values: readonly string[]): Record<string, number[]> => {
  const versions: Record<string, number[]> = {};
  for (const value of values) {
    const { tenant_id, version } = JSON.parse(value).data;
    versions[tenant_id] = [...(versions[tenant_id] ?? []), version];
  }
  return versions;
};

export const ascending = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index);
