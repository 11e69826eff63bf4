import { isDeepStrictEqual } from 'node:util';
import { HttpError, invalidField } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { lockBatches } from '../../records/batch.ts';
import type { AnswerOf } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { type Changed, viewed } from '../../records/viewing.ts';
import { customFields } from '../custom-fields/custom-fields.service.ts';
import { type Contacts, contact } from './contacts.kind.ts';
import {
  type ContactMerge,
  findMerge,
  hasMoreLinks,
  insertMerge,
  isLiveCompany,
  type LinkingTable,
  linkingTables,
  lockContacts,
  lockLinks,
  type MovedLinks,
  markUndone,
  moveLinks,
  saveTaken,
  takenInMerges,
} from './merges.repository.ts';
import {
  isReversible,
  type MergedColumns,
  sharedWithEarlier,
  takenBy,
  together,
  tooMuch,
  withoutShared,
  withoutTaken,
  withTaken,
} from './merges.rules.ts';
import { lockMerges } from './merges-lock.ts';

type Contact = AnswerOf<typeof contact>;

/** How many logs and tasks a merge can move: one transaction moves thousands in a second, and has 30 seconds. */
const MAX_LINKS = 20_000;

/** Merges of contacts. Each is one transaction. */
export interface ContactMerges {
  /**
   * Merges the contact `mergedId` into the contact `id` and returns the latter; without effect if it is merged into it
   * already. 404 without the survivor, 422 on `contact_id` without the other one or if that is merged into a third, 409 if
   * too many records refer to the other one or lists would be too long, 412 if the survivor has none of the `versions`.
   */
  merge(
    caller: Caller,
    id: string,
    mergedId: string,
    versions?: readonly number[],
  ): Promise<Changed<Contact>>;
  /**
   * Undoes a merge: restores the other contact and gives back its links, except for those that have been changed
   * since. What another merged contact has given as well stays. 422 on `contact_id` if it was not merged into this
   * contact, 409 after 30 days.
   */
  unmerge(
    caller: Caller,
    id: string,
    mergedId: string,
    versions?: readonly number[],
  ): Promise<Changed<Contact>>;
}

/**
 * What a survivor takes from a contact. `added` is what it lacks; `taken` also contains what it has already, but only from
 * contacts that were merged earlier. 409 if a list would be too long.
 */
const take = async (
  db: TenantDb,
  survivor: Contact,
  merged: Contact,
): Promise<{ readonly added: MergedColumns; readonly taken: MergedColumns }> => {
  const { company_id, ...rest } = takenBy(survivor, merged);
  // A deleted company can no longer be referred to.
  const isKept = company_id && (await isLiveCompany(db, company_id));
  const added: MergedColumns = isKept ? { ...rest, company_id } : rest;
  const excess = tooMuch(survivor, added);
  if (excess.length > 0) {
    const message = `Together, the contacts have ${excess.join(' and ')}. Remove some from one of them first.`;
    throw new HttpError(409, 'conflict', message);
  }
  const earlier = await takenInMerges(db, survivor.id);
  for (const { id, taken } of earlier) {
    // The survivor has lost these since, and has them from this contact now.
    const kept = withoutShared(taken, [added]);
    if (!isDeepStrictEqual(kept, taken)) await saveTaken(db, id, kept);
  }
  const given = earlier.map(({ taken }) => taken);
  return { added, taken: together(added, sharedWithEarlier(survivor, merged, given)) };
};

const mergedElsewhere = ({ survivor_id: survivorId }: ContactMerge): HttpError =>
  invalidField('contact_id', `contact_id is merged into the contact ${survivorId} already`);

/** `maxLinks` is the number of records that one merge can move. */
export const createContactMerges = (
  database: Pick<Database, 'forTenant'>,
  maxLinks = MAX_LINKS,
): ContactMerges => {
  /**
   * Runs in a transaction that has locked the declarations of custom fields, then merges, then batches of tasks, then
   * what `lock` locks, and then both contacts.
   */
  const locked = <R>(
    { tenantId }: Caller,
    ids: readonly string[],
    {
      lock,
      work,
    }: {
      readonly lock: (db: TenantDb) => Promise<void>;
      readonly work: (contacts: Contacts, db: TenantDb) => Promise<R>;
    },
  ): Promise<R> =>
    database.forTenant(tenantId).transaction(async (db) => {
      // No value is written of a field that is deleted meanwhile.
      await customFields.declaredFor(db);
      await lockMerges(db);
      // A batch locks the contacts of its tasks in the order of its operations.
      await lockBatches(db, 'tasks');
      await lock(db);
      await lockContacts(db, ids);
      return work(createRecords(contact, { forTenant: () => db }), db);
    });

  const otherOf = async (contacts: Contacts, caller: Caller, id: string): Promise<Contact> => {
    const [other] = await contacts.getMany(caller, [id]);
    if (other) return other.answer;
    throw invalidField('contact_id', 'contact_id must be the id of an existing contact');
  };

  const moveAll = async (move: (table: LinkingTable) => Promise<string[]>): Promise<MovedLinks> => {
    const moved: [string, string[]][] = [];
    for (const table of linkingTables) moved.push([table, await move(table)]);
    return Object.fromEntries(moved);
  };

  return {
    merge(caller, id, mergedId, versions) {
      if (id === mergedId) throw invalidField('contact_id', 'contact_id must be another contact');
      const lock = async (db: TenantDb): Promise<void> => {
        // More than that are not moved, and so many are not locked either.
        if (!(await hasMoreLinks(db, mergedId, maxLinks))) await lockLinks(db, mergedId);
      };
      const work = async (contacts: Contacts, db: TenantDb): Promise<Changed<Contact>> => {
        const before = await contacts.get(caller, id);
        const earlier = await findMerge(db, mergedId);
        // The response to the request that merged it may have been lost.
        if (earlier?.survivor_id === id) return viewed(contact, caller, before);
        if (earlier) throw mergedElsewhere(earlier);
        const merged = await otherOf(contacts, caller, mergedId);
        if (await hasMoreLinks(db, mergedId, maxLinks)) {
          const remedy = (await hasMoreLinks(db, id, maxLinks))
            ? 'This contact has more as well, so neither can be merged into the other.'
            : 'Merge this contact into that one instead.';
          const message = `The other contact has more than ${maxLinks} communication logs and tasks. ${remedy}`;
          throw new HttpError(409, 'conflict', message);
        }
        let taken: MergedColumns = {};
        const rule = async ({ row }: { readonly row: Contact }): Promise<MergedColumns> => {
          const found = await take(db, row, merged);
          taken = found.taken;
          return withTaken(row, found.added);
        };
        const survivor = await contacts.act(
          caller,
          id,
          { name: 'merge', rule },
          undefined,
          versions,
        );
        const cause = { action: 'merge', actor: actorOf(caller) };
        const moved = await moveAll((table) =>
          moveLinks(db, { table, from: mergedId, to: id }, cause),
        );
        await insertMerge(db, { survivorId: id, mergedId, moved, taken });
        await contacts.delete(caller, mergedId);
        return survivor;
      };
      return locked(caller, [id, mergedId], { lock, work });
    },

    unmerge(caller, id, mergedId, versions) {
      const lock = async (db: TenantDb): Promise<void> => {
        const merge = await findMerge(db, mergedId);
        if (merge) await lockLinks(db, id, merge.moved);
      };
      const work = async (contacts: Contacts, db: TenantDb): Promise<Changed<Contact>> => {
        await contacts.get(caller, id);
        const merge = await findMerge(db, mergedId);
        if (merge?.survivor_id !== id) {
          throw invalidField(
            'contact_id',
            'contact_id must be the id of a contact that was merged into this one',
          );
        }
        if (!isReversible(merge)) {
          throw new HttpError(409, 'conflict', 'The merge is older than 30 days.');
        }
        const others = (await takenInMerges(db, id)).filter((one) => one.id !== merge.id);
        const taken = withoutShared(
          merge.taken,
          others.map((one) => one.taken),
        );
        const rule = ({ row }: { readonly row: Contact }): MergedColumns =>
          withoutTaken(row, taken);
        const survivor = await contacts.act(
          caller,
          id,
          { name: 'unmerge', rule },
          undefined,
          versions,
        );
        await markUndone(db, merge.id);
        await contacts.restore(caller, mergedId);
        const cause = { action: 'unmerge', actor: actorOf(caller) };
        await moveAll((table) =>
          moveLinks(db, { table, from: id, to: mergedId, ids: merge.moved[table] ?? [] }, cause),
        );
        return survivor;
      };
      return locked(caller, [id, mergedId], { lock, work });
    },
  };
};
