import type { Logger } from '@tessera/http-kit';
import { createDatabase, type Database } from '../database.ts';
import { contact } from '../features/contacts/contacts.kind.ts';
import { createRecords, type RecordsOf } from '../records/records.ts';
import { crmDatabase } from './crm.ts';
import { onPartitions } from './partitioned-tables.ts';

/** A database of CRM whose changes become events. */
export interface OutboxDatabase {
  readonly access: { url: string; directUrl: string; poolSize: number; rowSecurity: boolean };
  readonly database: Database;
  readonly contacts: RecordsOf<typeof contact>;
}

/** Creates an empty database, and opens it. */
export const openOutbox = async (logger: Logger): Promise<OutboxDatabase> => {
  const url = await crmDatabase();
  const access = { url, directUrl: url, poolSize: 5, rowSecurity: !onPartitions };
  const database = createDatabase({ ...access, publishesEvents: true }, logger);
  return { access, database, contacts: createRecords(contact, database) };
};
