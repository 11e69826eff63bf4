import { type CatalogueTable, readTables } from '@tessera/database-kit';
import pg from 'pg';
import { mergesLockOf } from '../../features/contacts/merges-lock.ts';
import { type ContactId, contactRows, mergedContacts } from './contact-rows.ts';
import { clearUndoneMerges } from './erase-contact-merges.ts';
import { type ContactTexts, isMeant, textsOf } from './erase-contact-texts.ts';
import {
  type ChangedRow,
  type ErasureOptions,
  publishChanges,
  recordUpdates,
} from './recorded-changes.ts';
import { countTexts, isSearchable } from './remaining-texts.ts';

const { escapeIdentifier: quoted } = pg;

/**
 * Locks the rows that others refer to or name, such as history, so that the service can add no more of those. This waits
 * for what the service has begun, and the deletion that follows sees it.
 */
const lockRows = async (client: pg.Client, tenantId: string, ids: readonly string[]) => {
  // The service locks the endpoints while it turns events into deliveries.
  await client.query(
    'SELECT FROM tenant_crm.webhook_endpoints WHERE tenant_id = $1 ORDER BY id FOR NO KEY UPDATE',
    [tenantId],
  );
  for (const { table, condition } of contactRows.filter(({ isLocked }) => isLocked).reverse()) {
    await client.query(
      `SELECT FROM tenant_crm.${quoted(table)} WHERE ${condition} ORDER BY id FOR UPDATE`,
      [tenantId, ids],
    );
  }
};

/** Deletes the rows about the contacts; returns how many rows of each table. */
const deleteRows = async (client: pg.Client, tenantId: string, ids: readonly string[]) => {
  const values = [tenantId, ids];
  const tasks =
    'SELECT id FROM tenant_crm.tasks WHERE tenant_id = $1 AND contact_id = ANY ($2::uuid[])';
  const entries = `SELECT id FROM tenant_crm.time_entries WHERE tenant_id = $1 AND task_id IN (${tasks})`;
  // The time that somebody worked remains, without what they noted of the contact.
  await client.query(
    `UPDATE tenant_crm.record_changes SET changes = changes - 'note' - 'task_id'
     WHERE tenant_id = $1 AND table_name = 'time_entries' AND record_id IN (${entries})`,
    values,
  );
  const { rows: emptied } = await client.query<ChangedRow>(
    `UPDATE tenant_crm.time_entries
     SET task_id = NULL, note = NULL, version = version + 1, updated_at = now()
     WHERE tenant_id = $1 AND task_id IN (${tasks}) RETURNING tenant_id, id, version`,
    values,
  );
  await recordUpdates(client, 'time_entries', emptied, ['note', 'task_id']);
  // Stored responses are kept for a day only, so all that may show a contact go.
  await client.query('DELETE FROM tenant_crm.idempotency_keys WHERE tenant_id = $1', [tenantId]);
  const deleted: Record<string, number> = {};
  for (const { table, condition, kept = 'false' } of contactRows) {
    const { rowCount } = await client.query(
      `DELETE FROM tenant_crm.${quoted(table)} WHERE ${condition} AND NOT (${kept})`,
      values,
    );
    if (rowCount) deleted[table] = rowCount;
  }
  return deleted;
};

/** SQL of a cell in the form in which whole cells are compared. */
const trimmed = (cell: string) => `lower(regexp_replace(${cell}, '^\\s+|\\s+$', '', 'g'))`;

/**
 * Deletes the rows of files of imports that could not be imported and that contain one of the texts. Short ones,
 * such as the number 0, are in too many other texts: they must be a whole cell. Files mostly have first and last names in
 * cells of their own.
 */
const deleteImportFailures = async (
  client: pg.Client,
  tenantId: string,
  { texts, names }: ContactTexts,
) => {
  const { rowCount } = await client.query(
    `WITH names AS (
       SELECT lower(first) AS first, lower(last) AS last FROM unnest($4::text[], $5::text[]) AS given (first, last)
       WHERE ${isMeant('first')} AND ${isMeant('last')}
     )
     DELETE FROM tenant_crm.import_failures WHERE tenant_id = $1 AND (
       EXISTS (SELECT FROM unnest(cells || errors) AS cell CROSS JOIN unnest($2::text[]) AS text
         WHERE strpos(lower(cell), lower(text)) > 0)
       OR EXISTS (SELECT FROM unnest(cells) AS cell CROSS JOIN unnest($3::text[]) AS text
         WHERE ${trimmed('cell')} = lower(text))
       OR EXISTS (SELECT FROM names WHERE
         first IN (SELECT ${trimmed('cell')} FROM unnest(cells) AS cell)
         AND last IN (SELECT ${trimmed('cell')} FROM unnest(cells) AS cell)))`,
    [
      tenantId,
      texts.filter(isSearchable),
      texts.filter((text) => !isSearchable(text)),
      names.map(({ first }) => first),
      names.map(({ last }) => last),
    ],
  );
  return rowCount ?? 0;
};

/** How many imports have not ended: their files may contain the contact, too. */
const countUnfinishedImports = async (client: pg.Client, tenantId: string): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM tenant_crm.imports
     WHERE tenant_id = $1 AND status IN ('uploading', 'pending', 'running')`,
    [tenantId],
  );
  return rows[0]?.count ?? 0;
};

/**
 * The ids of the contact and of those that it was merged with, locked, so that nobody restores them. Throws if there are
 * none, if one has not been deleted, and if they were merged or separated meanwhile.
 */
const lockContacts = async (client: pg.Client, contact: ContactId): Promise<readonly string[]> => {
  const ids = await mergedContacts(client, contact);
  if (ids.length === 0) throw new Error(`The tenant has no contact ${contact.contactId}.`);
  const { rows } = await client.query<{ id: string; is_deleted: boolean }>(
    `SELECT id, deleted_at IS NOT NULL AS is_deleted FROM tenant_crm.contacts
     WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE`,
    [contact.tenantId, ids],
  );
  const live = rows.filter(({ is_deleted }) => !is_deleted).map(({ id }) => id);
  if (live.length > 0) throw new Error(`Delete the contact ${live.join(', ')} first.`);
  if ((await mergedContacts(client, contact)).join() === ids.join()) return ids;
  throw new Error(
    `The merges of the contact ${contact.contactId} have just changed. Run this again.`,
  );
};

/**
 * Erases everything that a tenant has about a contact, and about those that it was merged with, in one transaction. They
 * must have been deleted, which tells the receivers of events. Afterwards, counts the rows of other tables in which their
 * names, addresses or numbers still are, also former ones, such as chat messages: whether to change those is for people to
 * decide.
 */
export const eraseContact = async (
  { directUrl, ...events }: ErasureOptions,
  contact: ContactId,
) => {
  const { tenantId } = contact;
  const client = new pg.Client({ connectionString: directUrl, application_name: 'crm-admin' });
  await client.connect();
  try {
    const tables: CatalogueTable[] = await readTables(client, 'tenant_crm');
    await client.query('BEGIN');
    await publishChanges(client, events);
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      mergesLockOf(tenantId),
    ]);
    const ids = await lockContacts(client, contact);
    const found = await textsOf(client, tenantId, ids);
    const importFailures = await deleteImportFailures(client, tenantId, found);
    await lockRows(client, tenantId, ids);
    await clearUndoneMerges(client, tenantId, ids);
    const deleted = await deleteRows(client, tenantId, ids);
    await client.query('COMMIT');
    return {
      contact_ids: ids,
      deleted: { ...deleted, ...(importFailures > 0 && { import_failures: importFailures }) },
      // Without locks, because this reads all texts of the tenant.
      mentioned_in: await countTexts(client, tables, tenantId, found.texts),
      unfinished_imports: await countUnfinishedImports(client, tenantId),
    };
  } finally {
    await client.end();
  }
};
