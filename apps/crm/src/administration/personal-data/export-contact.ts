import { createExportFolder } from '@tessera/command-line';
import { leftOutTables } from '../tenant-data/left-out.ts';
import { inSnapshot, writeTable } from '../tenant-data/table-export.ts';
import { type ContactId, contactRows, mergedContacts } from './contact-rows.ts';

/**
 * Exports everything about a contact to a new folder: the contact and those that it was merged with, communication logs,
 * tasks, their history and activities, and what was sent to webhooks. Everything is read in one snapshot.
 */
export const exportContact = (directUrl: string, contact: ContactId, folder: string) =>
  inSnapshot(directUrl, async ({ client, plan, takenAt }) => {
    const ids = await mergedContacts(client, contact);
    if (ids.length === 0) throw new Error(`The tenant has no contact ${contact.contactId}.`);
    const target = await createExportFolder(folder);
    const tables: Record<string, object> = {};
    let total = 0;
    for (const { table: name, condition } of contactRows) {
      const table = plan.get(name);
      if (!table || leftOutTables[name] !== undefined) continue;
      const rows = await writeTable(target, client, table, condition, [contact.tenantId, ids]);
      tables[name] = { rows, left_out: table.leftOut };
      total += rows;
    }
    await target.finish({
      format: 'tessera-crm-contact',
      format_version: 1,
      tenant_id: contact.tenantId,
      contact_ids: ids,
      exported_at: takenAt.toISOString(),
      tables,
    });
    return { contact_ids: ids, folder, rows: total };
  });
