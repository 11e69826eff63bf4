import { Shares } from '@tessera/fair-shares';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isUnfinished } from './deliveries.repository.ts';

const { sql } = Prisma;

/** How many deliveries of a tenant may wait. One endpoint alone can have half of them, of many each has less. */
export const MOST_WAITING = 200_000;
/** About how many characters of records wait. While few deliveries do, their records may be as large as those of `payloadOf`. */
const RECORD_CHARACTERS = 64 * 1024 * 1024;

/** The deliveries of a tenant that wait. Its endpoints share the room: one that takes nothing leaves the others theirs. */
export class Backlog {
  readonly #shares: Shares;
  readonly #full = new Set<string>();

  constructor(waiting: ReadonlyMap<string, number>, most: number = MOST_WAITING) {
    this.#shares = new Shares(most);
    // Those with more than their share must not count against the others.
    for (const [id, count] of [...waiting].sort(([, a], [, b]) => a - b)) {
      if (!this.#shares.take(id, count)) this.#full.add(id);
    }
  }

  /** Takes the room of a delivery; returns false if the endpoint has none left, from then on. */
  take(endpointId: string): boolean {
    if (!this.#full.has(endpointId) && this.#shares.take(endpointId)) return true;
    this.#full.add(endpointId);
    return false;
  }

  /** How large the record in a delivery may be, in characters of JSON: the more deliveries wait, the smaller. */
  get maxRecordLength(): number {
    return RECORD_CHARACTERS / Math.max(1, this.#shares.held);
  }
}

/** How many deliveries of each endpoint of the tenant wait. */
export const countWaiting = async (db: TenantDb): Promise<ReadonlyMap<string, number>> => {
  const rows = await db.query<{ endpoint_id: string; count: number }>(sql`
    SELECT endpoint_id, count(*)::int AS count FROM tenant_crm.webhook_deliveries
    WHERE tenant_id = ${db.tenantId}::uuid AND ${isUnfinished} GROUP BY endpoint_id`);
  return new Map(rows.map(({ endpoint_id, count }) => [endpoint_id, count]));
};
