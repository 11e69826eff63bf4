import { forwardSettings } from '@tessera/database-kit';
import type pg from 'pg';

type Client = Pick<pg.ClientBase, 'query'>;

/** How an erasure connects, and whether CRM has a broker for events. */
export interface ErasureOptions {
  readonly directUrl: string;
  readonly publishesEvents: boolean;
  /** Whether Citus distributes the tables. */
  readonly distributed: boolean;
}

/** A row that was changed, with its new version. */
export interface ChangedRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly version: number;
}

/** Lets the changes of the transaction become events for Kafka if there is a broker, as those of the service do. */
export const publishChanges = async (
  client: Client,
  { publishesEvents, distributed }: Pick<ErasureOptions, 'publishesEvents' | 'distributed'>,
): Promise<void> => {
  if (!publishesEvents) return;
  await client.query(
    distributed
      ? forwardSettings({ 'tessera.publishes_events': 'on' })
      : `SELECT set_config('tessera.publishes_events', 'on', true)`,
  );
};

/**
 * Adds updates by CRM itself to the history of records, which makes them events. The history names the fields that were
 * emptied, without what they were.
 */
export const recordUpdates = async (
  client: Client,
  table: string,
  changed: readonly ChangedRow[],
  emptied: readonly string[] = [],
): Promise<void> => {
  const changes = Object.fromEntries(emptied.map((field) => [field, [null, null]]));
  const byTenant = new Map<string, ChangedRow[]>();
  for (const row of changed) {
    const rows = byTenant.get(row.tenant_id) ?? [];
    rows.push(row);
    byTenant.set(row.tenant_id, rows);
  }
  for (const [tenantId, rows] of byTenant) {
    await client.query(
      `INSERT INTO tenant_crm.record_changes
         (tenant_id, table_name, record_id, changed_at, version, action, actor_type, changes)
       SELECT $1::uuid, $2::text, id, clock_timestamp(), version, 'update', 'system', $5::jsonb
       FROM unnest($3::uuid[], $4::integer[]) AS changed (id, version)`,
      [
        tenantId,
        table,
        rows.map(({ id }) => id),
        rows.map(({ version }) => version),
        JSON.stringify(changes),
      ],
    );
  }
};
