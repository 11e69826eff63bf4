import type { AffectedWork, WaitingWork } from '../../absent-callers/access-events.ts';
import { inBatches } from '../../absent-callers/batches.ts';
import type { Database, TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** An import that has not ended, and its sender. */
export interface UnfinishedImport extends WaitingWork {
  readonly id: string;
}

/** How many imports are read, and then reviewed, at the same time. */
export const REVIEWED = 20;
const NIL = '00000000-0000-0000-0000-000000000000';

const readOfTenant = (
  db: TenantDb,
  { userIds }: Extract<AffectedWork, { readonly tenantId: string }>,
  after: string,
): Promise<UnfinishedImport[]> =>
  db.query<UnfinishedImport>(sql`
    SELECT tenant_id, id, principal FROM tenant_crm.imports
    WHERE tenant_id = ${db.tenantId}::uuid AND status IN ('uploading', 'pending', 'running') AND id > ${after}::uuid
      ${userIds === null ? sql`` : sql`AND principal ->> 'id' = ANY(${[...userIds]}::text[])`}
    ORDER BY id LIMIT ${REVIEWED}`);

/** The imports that have not ended and that an event may affect, in batches of at most `REVIEWED`. */
export const affectedImports = (
  { pool, forTenant }: Pick<Database, 'pool' | 'forTenant'>,
  affected: AffectedWork,
): AsyncGenerator<readonly UnfinishedImport[]> =>
  inBatches<UnfinishedImport>(REVIEWED, async (last) => {
    if ('tenantId' in affected) {
      return readOfTenant(forTenant(affected.tenantId), affected, last?.id ?? NIL);
    }
    const { rows } = await pool.query<UnfinishedImport>(
      'SELECT tenant_id, id, principal FROM tenant_crm.unfinished_imports_of($1, $2, $3, $4)',
      [affected.scheduler, last?.tenant_id ?? NIL, last?.id ?? NIL, REVIEWED],
    );
    return rows;
  });
