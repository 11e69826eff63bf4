import type { AffectedWork } from '../../absent-callers/access-events.ts';
import { inBatches } from '../../absent-callers/batches.ts';
import type { StoredPrincipal } from '../../absent-callers/stored-principal.ts';
import type { Database, TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** A publication that waits for its time. */
export interface ScheduledPublication {
  readonly content_id: string;
  /** Another one after each change of the time. */
  readonly schedule_id: string;
  /** The table of the record. */
  readonly table_name: string;
  readonly publish_at: Date;
  /** Who scheduled it. */
  readonly user_id: string | null;
  readonly principal: StoredPrincipal;
}

/** A waiting publication of any tenant, and who scheduled it. */
export type WaitingPublication = Pick<
  ScheduledPublication,
  'content_id' | 'schedule_id' | 'principal'
> & { readonly tenant_id: string };

const ofContent = (db: TenantDb, contentId: string): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND content_id = ${contentId}::uuid`;

/** How many waiting publications are read, and then reviewed, at the same time. */
export const REVIEWED = 20;

type Key = Pick<WaitingPublication, 'tenant_id' | 'content_id'>;

const readOfTenant = (
  db: TenantDb,
  { userIds }: Extract<AffectedWork, { readonly tenantId: string }>,
  { content_id: after }: Key,
): Promise<WaitingPublication[]> =>
  db.query<WaitingPublication>(sql`
    SELECT tenant_id, content_id, schedule_id, principal FROM tenant_crm.scheduled_publications
    WHERE tenant_id = ${db.tenantId}::uuid AND content_id > ${after}::uuid
      ${userIds === null ? sql`` : sql`AND principal ->> 'id' = ANY(${[...userIds]}::text[])`}
    ORDER BY content_id LIMIT ${REVIEWED}`);

/** The time of the database, in milliseconds. */
export const databaseTime = async (db: TenantDb): Promise<Date> => {
  const [row] = await db.query<{ now: Date }>(
    sql`SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
  );
  return row?.now ?? new Date();
};

/** The waiting publication of a record; undefined if there is none. */
export const findScheduled = async (
  db: TenantDb,
  contentId: string,
): Promise<ScheduledPublication | undefined> => {
  const [row] = await db.query<ScheduledPublication>(sql`
    SELECT content_id, schedule_id, table_name, publish_at, user_id, principal
    FROM tenant_crm.scheduled_publications WHERE ${ofContent(db, contentId)}`);
  return row;
};

/** Stores the waiting publication of a record in place of an earlier one. */
export const storeScheduled = async (db: TenantDb, publication: ScheduledPublication) => {
  const { content_id, schedule_id, table_name, publish_at, user_id, principal } = publication;
  await db.query(sql`
    INSERT INTO tenant_crm.scheduled_publications
      (tenant_id, content_id, schedule_id, table_name, publish_at, user_id, principal)
    VALUES (${db.tenantId}::uuid, ${content_id}::uuid, ${schedule_id}::uuid, ${table_name}, ${publish_at},
      ${user_id}::uuid, ${JSON.stringify(principal)}::jsonb)
    ON CONFLICT (tenant_id, content_id) DO UPDATE SET schedule_id = excluded.schedule_id,
      publish_at = excluded.publish_at, user_id = excluded.user_id, principal = excluded.principal`);
};

/** Deletes the waiting publication of a record, if there is one; with `scheduleId`, only that one. */
export const deleteScheduled = async (
  db: TenantDb,
  contentId: string,
  scheduleId?: string,
): Promise<void> => {
  const only = scheduleId === undefined ? sql`` : sql`AND schedule_id = ${scheduleId}::uuid`;
  await db.query(
    sql`DELETE FROM tenant_crm.scheduled_publications WHERE ${ofContent(db, contentId)} ${only}`,
  );
};

/** Deletes the waiting publications of records. */
export const deleteScheduledOf = async (
  db: TenantDb,
  contentIds: readonly string[],
): Promise<void> => {
  await db.query(sql`
    DELETE FROM tenant_crm.scheduled_publications
    WHERE tenant_id = ${db.tenantId}::uuid AND content_id = ANY(${[...contentIds]}::uuid[])`);
};

const NIL = '00000000-0000-0000-0000-000000000000';
const BEGINNING: Key = { tenant_id: NIL, content_id: NIL };

/** The waiting publications that an event may affect, in batches of at most `REVIEWED`. */
export const affectedPublications = (
  { pool, forTenant }: Pick<Database, 'pool' | 'forTenant'>,
  affected: AffectedWork,
): AsyncGenerator<readonly WaitingPublication[]> =>
  inBatches<WaitingPublication>(REVIEWED, async (last) => {
    const after: Key = last ?? BEGINNING;
    if ('tenantId' in affected) return readOfTenant(forTenant(affected.tenantId), affected, after);
    const { rows } = await pool.query<WaitingPublication>(
      `SELECT tenant_id, content_id, schedule_id, principal
       FROM tenant_crm.publications_scheduled_by($1, $2, $3, $4)`,
      [affected.scheduler, after.tenant_id, after.content_id, REVIEWED],
    );
    return rows;
  });
