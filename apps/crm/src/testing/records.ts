import { createLogger } from '@tessera/http-kit';
import { authorizedCaller } from '@tessera/resource-server/testing';
import { createDatabase } from '../database.ts';
import type { Caller } from '../http.ts';
import { crmDatabase } from './crm.ts';
import { onPartitions } from './partitioned-tables.ts';
import { StatementPlans } from './statement-plans.ts';

/** A new database for tests of services without HTTP. */
export const openDatabase = async (url?: string) => {
  const config = { url: url ?? (await crmDatabase()), poolSize: 10, rowSecurity: !onPartitions };
  const database = createDatabase(config, createLogger('crm', 'silent'));
  const plans = onPartitions ? new StatementPlans(database.pool) : undefined;
  return {
    database,
    pool: database.pool,
    /** Throws if a statement touched several partitions. */
    async close() {
      await database.close();
      plans?.verify();
    },
  };
};

/** A user with every permission in the given tenant, or in a new one. */
export const callerIn = (tenantId?: string): Caller =>
  authorizedCaller({ service: 'crm', ...(tenantId !== undefined && { tenantId }) });

/** A client with every permission in a new tenant. */
export const clientIn = (): Caller =>
  authorizedCaller({ service: 'crm', principal: { id: 'pipeline', type: 'client' } });
