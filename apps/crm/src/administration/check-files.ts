import type { Config } from '../config.ts';
import type { Database } from '../database.ts';
import { compareFiles } from '../files/compare.ts';
import { openExistingStore } from './existing-store.ts';

/** How many missing files and orphans are listed; all are counted. */
const LISTED = 1000;

/** Compares the file store with the database, and changes nothing. */
export const checkFiles = async (config: Config, database: Database) => {
  const store = await openExistingStore(config);
  const missing: object[] = [];
  const orphans: object[] = [];
  let missingCount = 0;
  let orphanCount = 0;
  const { objects, contents } = await compareFiles(
    { database, store },
    {
      async missing({ tenant_id, id: content_id, object_id }) {
        missingCount += 1;
        if (missing.length < LISTED) missing.push({ tenant_id, content_id, object_id });
      },
      async orphan({ tenantId: tenant_id, id: object_id }) {
        orphanCount += 1;
        if (orphans.length < LISTED) orphans.push({ tenant_id, object_id });
      },
      found: async () => undefined,
    },
  );
  return {
    objects,
    contents,
    missing_count: missingCount,
    missing,
    orphan_count: orphanCount,
    orphans,
  };
};
