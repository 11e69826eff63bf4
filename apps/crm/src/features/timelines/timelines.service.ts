import { type JsonText, notFound } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { Page } from '../../records/listing.ts';
import { createRecords } from '../../records/records.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import type { TimelineOf } from './entry-sources.ts';
import { readTimeline } from './timelines.repository.ts';
import type { EntryType, TimelineEntryPayload, TimelineQuery } from './timelines.schema.ts';

/** The timelines of contacts and companies. */
export interface Timelines {
  /**
   * One page of a record's timeline, with the types of entries that the caller may see. Throws 404 if the record
   * does not exist.
   */
  read(
    caller: Caller,
    of: TimelineOf,
    query: TimelineQuery,
  ): Promise<Page<JsonText<TimelineEntryPayload>>>;
}

const names = { contacts: contact.name, companies: company.name } as const;

export const createTimelines = (database: Database): Timelines => {
  const records = {
    contacts: createRecords(contact, database),
    companies: createRecords(company, database),
  };
  return {
    async read(caller, of, { page, per_page: perPage, type }) {
      const visible: EntryType[] = ['change'];
      if (caller.can('communication_logs.list')) visible.push('communication_log');
      if (caller.can('tasks.list')) visible.push('task');
      const types = visible.filter((one) => type === undefined || one === type);
      if (types.length === 0) {
        await records[of.table].get(caller, of.id);
        return { rows: [], page: 1, perPage, total: 0, totalIsMinimum: false, more: false };
      }
      const db = database.forTenant(caller.tenantId);
      const found = await readTimeline(db, { of, caller, types, page, perPage });
      if (!found) throw notFound(`The ${names[of.table]}`);
      return found;
    },
  };
};
