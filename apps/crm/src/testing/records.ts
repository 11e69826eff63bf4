import { createLogger } from '@tessera/http-kit';
import { authorizedCaller } from '@tessera/resource-server/testing';
import { createDatabase, type TenantDb } from '../database.ts';
import type { Caller } from '../http.ts';
import { crmDatabase } from './crm.ts';
import { onCitus } from './distributed-tables.ts';
import { onPartitions } from './partitioned-tables.ts';
import { ShardStatements } from './shard-statements.ts';
import { StatementPlans } from './statement-plans.ts';

/** A new database for tests of services without HTTP. */
export const openDatabase = async (url?: string) => {
  const config = {
    url: url ?? (await crmDatabase()),
    // Tests make several transactions of one tenant wait for each other, which has a part of the pool.
    poolSize: 40,
    rowSecurity: !onPartitions && !onCitus,
    distributed: onCitus,
  };
  const database = createDatabase(config, createLogger('crm', 'silent'));
  const plans = onPartitions ? new StatementPlans(database.pool) : undefined;
  const shards = onCitus ? new ShardStatements(database.pool, config.url) : undefined;
  return {
    database,
    pool: database.pool,
    /** Throws if a statement touched several partitions or shards. */
    async close() {
      await database.close();
      plans?.verify();
      await shards?.verify();
    },
  };
};

/** A user with every permission in the given tenant, or in a new one. */
export const callerIn = (tenantId?: string): Caller =>
  authorizedCaller({ service: 'crm', ...(tenantId !== undefined && { tenantId }) });

/** A client with every permission in a new tenant. */
export const clientIn = (): Caller =>
  authorizedCaller({ service: 'crm', principal: { id: 'pipeline', type: 'client' } });

/** A tenant's rows with some methods replaced. */
export const withMethods = (db: TenantDb, methods: Partial<TenantDb>): TenantDb =>
  new Proxy(db, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
