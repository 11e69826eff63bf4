import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { SYSTEM_ACTOR } from '../../records/actor.ts';
import { recordChanges } from '../../records/record-changes.ts';

const { sql, empty } = Prisma;

/** An endpoint that takes events, or that was disabled because too many of them waited. */
export interface LiveEndpoint {
  readonly id: string;
  readonly event_types: readonly string[];
  readonly is_enabled: boolean;
}

/**
 * The endpoints of the tenant that take events or miss them because of their backlog, locked until the transaction ends: a job that looks for deliveries
 * waits for those that this transaction adds.
 */
export const lockLiveEndpoints = (db: TenantDb): Promise<readonly LiveEndpoint[]> =>
  db.query<LiveEndpoint>(sql`
    SELECT id, event_types, is_enabled FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND (is_enabled OR disabled_reason = 'backlog') AND deleted_at IS NULL
    ORDER BY id FOR NO KEY UPDATE`);

/** An endpoint that is not deleted. */
export interface FoundEndpoint {
  readonly is_enabled: boolean;
  readonly event_types: readonly string[];
}

const findLive = async (
  db: TenantDb,
  id: string,
  lock: Prisma.Sql,
): Promise<FoundEndpoint | undefined> => {
  const [found] = await db.query<FoundEndpoint>(sql`
    SELECT is_enabled, event_types FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL
    ${lock}`);
  return found;
};

/** How an endpoint is, which may change at any time; undefined if it is deleted or does not exist. */
export const peekEndpoint = (db: TenantDb, id: string): Promise<FoundEndpoint | undefined> =>
  findLive(db, id, empty);

/** How an endpoint is, which stays so until the transaction ends; undefined if it is deleted or does not exist. */
export const findEndpoint = (db: TenantDb, id: string): Promise<FoundEndpoint | undefined> =>
  findLive(db, id, sql`FOR NO KEY UPDATE`);

/** How many later jobs of an endpoint are noted. Of more, the last ones are enqueued again when they are needed. */
const MOST_LATER = 20;

/**
 * Notes that a job is enqueued, for a time if one is given; returns whether that is later, and undefined if a job is
 * already enqueued for that time or an earlier one. Times are compared by the clock of the database, as those of jobs are.
 */
export const noteWake = async (
  db: TenantDb,
  id: string,
  at: Date | undefined,
): Promise<{ readonly is_later: boolean } | undefined> => {
  const due = at ? sql`${at}::timestamptz` : sql`now()`;
  // Null if the time is later. In an UPDATE, Citus allows now() neither in CASE and COALESCE nor in RETURNING.
  const wake = at ? sql`nullif(greatest(${due}, now()), ${due})` : sql`now()`;
  // A job that should have run minutes ago was lost. The previous release notes later jobs in wake_at, too.
  const [noted] = await db.query<{ is_later: boolean }>(sql`
    UPDATE tenant_crm.webhook_endpoints
    SET wake_at = ${wake},
      later_wakes = ARRAY(
        SELECT later FROM unnest(later_wakes || wake_at || ${due}) AS later
        WHERE later > now() ORDER BY later LIMIT ${MOST_LATER})
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid
      AND (wake_at IS NULL OR wake_at > greatest(${due}, now()) OR wake_at < now() - interval '10 minutes')
      AND NOT EXISTS (
        SELECT FROM unnest(later_wakes) AS later WHERE later > now() AND later <= ${due})
    RETURNING wake_at IS NULL AS is_later`);
  return noted;
};

/** Notes that a job runs: what is added from now on needs another one. Jobs for later times remain noted. */
export const noteRun = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.webhook_endpoints
    SET wake_at = NULL,
      later_wakes = ARRAY(
        SELECT later FROM unnest(later_wakes || wake_at) AS later WHERE later > now() ORDER BY later)
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid
      AND (wake_at IS NOT NULL OR later_wakes[1] <= now())`);
};

/** Notes that an attempt succeeded, or that earlier failures say nothing about the next attempts. */
export const forgetFailures = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.webhook_endpoints SET failing_since = NULL
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND failing_since IS NOT NULL`);
};

/** Prevents other changes of an endpoint and of its deliveries: whoever changes these locks the endpoint first. */
export const lockEndpoint = async (db: TenantDb, id: string): Promise<void> => {
  await db.query(sql`
    SELECT FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid FOR NO KEY UPDATE`);
};

/** As `lockEndpoint`, unless somebody else has locked it; returns whether it is locked now. */
export const tryLockEndpoint = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid FOR NO KEY UPDATE SKIP LOCKED`);
  return rows.length > 0;
};

/** Notes that an attempt failed; returns since when all have. */
export const noteFailure = async (db: TenantDb, id: string): Promise<Date | undefined> => {
  const [found] = await db.query<{ failing_since: Date | null }>(sql`
    SELECT failing_since FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
  if (found?.failing_since) return found.failing_since;
  const [noted] = await db.query<{ failing_since: Date }>(sql`
    UPDATE tenant_crm.webhook_endpoints SET failing_since = coalesce(failing_since, ${new Date()}::timestamptz)
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid RETURNING failing_since`);
  return noted?.failing_since;
};

/** Why an endpoint was disabled automatically. */
export const disabledReasons = ['failing', 'gone', 'backlog'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** Disables an endpoint and adds that to its history; false if it already was disabled. */
export const disableEndpoint = async (
  db: TenantDb,
  id: string,
  reason: DisabledReason,
): Promise<boolean> => {
  const changes = sql`jsonb_build_object('is_enabled', jsonb_build_array(true, false),
    'disabled_reason', jsonb_build_array(NULL, ${reason}::text))`;
  const cause = { action: 'disable', actor: SYSTEM_ACTOR };
  const rows = await db.query(sql`
    WITH disabled AS (
      UPDATE tenant_crm.webhook_endpoints
      SET is_enabled = false, disabled_reason = ${reason}, version = version + 1, updated_at = now()
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND is_enabled AND deleted_at IS NULL
      RETURNING id, version
    )
    ${recordChanges(db, cause, { table: 'webhook_endpoints', from: sql`disabled`, changes })}
    RETURNING record_id`);
  return rows.length > 0;
};

/** Counts events that an endpoint misses because it is disabled. */
export const addMissed = async (db: TenantDb, id: string, events: number): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.webhook_endpoints
    SET missed_events = missed_events + ${events}, missed_since = coalesce(missed_since, ${new Date()}::timestamptz)
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid`);
};

/** An endpoint that was disabled automatically. */
interface DisabledEndpoint {
  readonly url: string;
  readonly contact_email: string | null;
  readonly reason: DisabledReason;
}

/** What a mail about a disabled endpoint says; undefined if it is enabled again or deleted. */
export const findDisabled = async (
  db: TenantDb,
  id: string,
): Promise<DisabledEndpoint | undefined> => {
  const [found] = await db.query<DisabledEndpoint>(sql`
    SELECT url, contact_email, disabled_reason AS reason FROM tenant_crm.webhook_endpoints
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL
      AND NOT is_enabled AND disabled_reason IS NOT NULL`);
  return found;
};
