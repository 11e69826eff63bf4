import { createExportFolder } from '@tessera/command-line';
import { leftOutTables } from '../tenant-data/left-out.ts';
import { inSnapshot, writeTable } from '../tenant-data/table-export.ts';
import { namesUser } from './user-columns.ts';

interface UserExport {
  readonly directUrl: string;
  readonly userId: string;
  readonly folder: string;
}

/**
 * Exports every row of every tenant that names a user to a new folder: what they created, own or were assigned, their
 * time and absences, and what they changed (`record_changes` and `activities`). Everything is read in one snapshot.
 */
export const exportUser = ({ directUrl, userId, folder }: UserExport) =>
  inSnapshot(directUrl, async ({ client, plan, takenAt }) => {
    const target = await createExportFolder(folder);
    const tables: Record<string, object> = {};
    let total = 0;
    for (const [name, table] of plan) {
      const condition = namesUser(table.table);
      if (leftOutTables[name] !== undefined || condition === undefined) continue;
      const rows = await writeTable(target, client, table, condition, [userId]);
      tables[name] = { rows, left_out: table.leftOut };
      total += rows;
    }
    await target.finish({
      format: 'tessera-crm-user',
      format_version: 1,
      user_id: userId,
      exported_at: takenAt.toISOString(),
      tables,
    });
    return { user_id: userId, folder, rows: total };
  });
