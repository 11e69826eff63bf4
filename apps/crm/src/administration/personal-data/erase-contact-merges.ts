import type pg from 'pg';

/** A merge, and moving up to 20,000 records, is one transaction of at most half a minute. */
const SAME_TRANSACTION = "interval '1 minute'";

/** What a merge does, or undoing it. */
interface Part {
  /** The action in the history of the survivor. */
  readonly action: string;
  /** The action in the history of the other contact that follows it in the same transaction. */
  readonly followed: string;
  /** When that was, by the clock of the service. */
  readonly at: 'merged_at' | 'undone_at';
}

/**
 * Removes what the contacts gave to others from the history of those, in merges that were undone: from the last change by
 * `action` before what followed it. No other merge of the tenant is between them.
 */
const clearChanges = async (
  client: pg.Client,
  tenantId: string,
  ids: readonly string[],
  { action, followed, at }: Part,
): Promise<void> => {
  await client.query(
    `UPDATE tenant_crm.record_changes AS shown SET changes = '{}'
     FROM tenant_crm.contact_merges AS merge
     CROSS JOIN LATERAL (
       SELECT changed_at FROM tenant_crm.record_changes
       WHERE tenant_id = $1 AND table_name = 'contacts' AND record_id = merge.merged_id AND action = $4
       ORDER BY abs(extract(epoch FROM changed_at - merge.${at})) LIMIT 1
     ) AS following
     CROSS JOIN LATERAL (
       SELECT changed_at, version FROM tenant_crm.record_changes
       WHERE tenant_id = $1 AND table_name = 'contacts' AND record_id = merge.survivor_id AND action = $3
         AND changed_at BETWEEN following.changed_at - ${SAME_TRANSACTION} AND following.changed_at
       ORDER BY changed_at DESC LIMIT 1
     ) AS found
     WHERE merge.tenant_id = $1 AND merge.merged_id = ANY ($2::uuid[]) AND merge.undone_at IS NOT NULL
       AND shown.tenant_id = $1 AND shown.table_name = 'contacts' AND shown.record_id = merge.survivor_id
       AND shown.changed_at = found.changed_at AND shown.version = found.version`,
    [tenantId, ids, action, followed],
  );
};

/** Removes what the contacts gave to others, before merges with those were undone. Needs the history of the contacts. */
export const clearUndoneMerges = async (
  client: pg.Client,
  tenantId: string,
  ids: readonly string[],
): Promise<void> => {
  await clearChanges(client, tenantId, ids, {
    action: 'merge',
    followed: 'delete',
    at: 'merged_at',
  });
  await clearChanges(client, tenantId, ids, {
    action: 'unmerge',
    followed: 'restore',
    at: 'undone_at',
  });
};
