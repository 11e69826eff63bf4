import type pg from 'pg';

/** A contact of a tenant. */
export interface ContactId {
  readonly tenantId: string;
  readonly contactId: string;
}

/** Which rows of which table are about contacts: $1 is the tenant, $2 the ids of the contacts. */
export interface ContactRows {
  readonly table: string;
  readonly condition: string;
  /** Whether other rows refer to these or name them: erasure locks them first, so that nobody can add any of those. */
  readonly isLocked?: true;
  /** The SQL condition of those that erasure keeps: they contain no record, and tell receivers about changes and deletions. */
  readonly kept?: string;
}

const ABOUT = (table: string) =>
  `SELECT id FROM tenant_crm.${table} WHERE tenant_id = $1 AND contact_id = ANY ($2::uuid[])`;

/** The ids of the contacts, and of the communication logs and tasks about them. */
const RECORDS = `SELECT unnest($2::uuid[]) UNION ALL ${ABOUT('communication_logs')} UNION ALL ${ABOUT('tasks')}`;

const ofContact = (column: string) => `tenant_id = $1 AND ${column} = ANY ($2::uuid[])`;
const ofRecords = (column: string) => `tenant_id = $1 AND ${column} IN (${RECORDS})`;

/**
 * What CRM has about contacts, in an order in which it can be deleted. A test compares this with the foreign keys, and
 * with the columns that name a record of any table.
 */
export const contactRows: readonly ContactRows[] = [
  {
    table: 'webhook_attempts',
    condition: `tenant_id = $1 AND delivery_id IN (
      SELECT id FROM tenant_crm.webhook_deliveries WHERE ${ofRecords('record_id')})`,
  },
  {
    table: 'webhook_deliveries',
    condition: ofRecords('record_id'),
    isLocked: true,
    kept: `state IN ('pending', 'sending') AND payload::jsonb #> '{data,record}' IS NULL`,
  },
  { table: 'outbox', condition: ofRecords('record_id'), kept: 'true' },
  { table: 'activities', condition: ofRecords('resource_id') },
  { table: 'record_changes', condition: ofRecords('record_id') },
  {
    table: 'contact_merges',
    condition: `tenant_id = $1 AND (survivor_id = ANY ($2::uuid[]) OR merged_id = ANY ($2::uuid[]))`,
  },
  { table: 'communication_logs', condition: ofContact('contact_id'), isLocked: true },
  { table: 'tasks', condition: ofContact('contact_id'), isLocked: true },
  { table: 'contacts', condition: ofContact('id'), isLocked: true },
];

/** The ids of the contact and of all contacts that it was merged with; none if the contact does not exist. */
export const mergedContacts = async (
  client: Pick<pg.ClientBase, 'query'>,
  { tenantId, contactId }: ContactId,
): Promise<string[]> => {
  const { rows } = await client.query<{ id: string }>(
    `WITH RECURSIVE same (id) AS (
       SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 AND id = $2
       UNION
       SELECT CASE WHEN merge.survivor_id = same.id THEN merge.merged_id ELSE merge.survivor_id END
       FROM same JOIN tenant_crm.contact_merges AS merge
         ON merge.tenant_id = $1 AND merge.undone_at IS NULL AND same.id IN (merge.survivor_id, merge.merged_id)
     ) SELECT id FROM same ORDER BY id`,
    [tenantId, contactId],
  );
  return rows.map(({ id }) => id);
};
