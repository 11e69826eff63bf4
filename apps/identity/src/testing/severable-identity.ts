import pg from 'pg';
import { identityDatabase, startIdentity } from './identity.ts';
import { severable } from './severable.ts';

/** Identity whose way to its database a test can cut, and the test's own way there. */
export const startSeverableIdentity = async () => {
  const url = await identityDatabase();
  const way = await severable(url);
  const identity = await startIdentity({ DATABASE_URL: way.url });
  const direct = new pg.Client({ connectionString: url });
  await direct.connect();
  return {
    identity,
    way,
    direct,
    async stop(): Promise<void> {
      await direct.end();
      await identity.stop();
      await way.cut();
    },
  };
};
