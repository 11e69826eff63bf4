import { migrate } from '@tessera/database-kit';
import { freshCitusDatabase } from '@tessera/local-stack';
import { distribute } from '../administration/distribution/distribute.ts';
import { migrations } from '../database.ts';
import { TENANT_ROLE } from '../row-level-security.ts';
import { sendRemoteCommands } from './shard-statements.ts';

const { CITUS_URL, TEST_CITUS_RUN } = process.env;

/** Whether the tests run on a Citus cluster (`npm run test:citus`). */
export const onCitus = CITUS_URL !== undefined && TEST_CITUS_RUN !== undefined;

/**
 * A migrated and distributed database of its own on the Citus cluster, which reports the commands that it sends to
 * workers; returns its URL on the coordinator.
 */
export const distributedCrmDatabase = async (): Promise<string> => {
  const url = await freshCitusDatabase(`${CITUS_URL}`, `${TEST_CITUS_RUN}`, {
    roles: [TENANT_ROLE],
    before: (template) => migrate(template, migrations),
    distribute,
  });
  await sendRemoteCommands(url);
  return url;
};

/** The same, with rows that `fill` adds before the tables are distributed. */
export const distributedRows = (fill: (url: string) => Promise<unknown>): Promise<string> =>
  freshCitusDatabase(`${CITUS_URL}`, `${TEST_CITUS_RUN}_filled`, {
    roles: [TENANT_ROLE],
    before: async (url) => {
      await migrate(url, migrations);
      await fill(url);
    },
    distribute,
  });
