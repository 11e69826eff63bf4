import { notFound } from '@tessera/http-kit';
import { clientNotConfigured, requireUser } from '@tessera/resource-server';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import { addActivity } from '../../activity/add-activity.ts';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { joinAsOwner } from '../chat/participants.service.ts';
import { lockTree } from '../document-folders/folders.access.ts';
import { joinAsWriter } from '../document-folders/folders.service.ts';
import type { Projects } from '../projects/projects.kind.ts';
import { makeManagers } from '../projects/projects.roles.ts';
import {
  findPrivateRecord,
  MOST_MEMBERS,
  nextPrivateRecords,
  type PrivateRecord,
} from './orphans.repository.ts';
import type { OrphanType } from './orphans.schema.ts';

/** How many records are read at once, how many one request reads, and for how many users it asks identity. */
const BATCH = 100;
const MOST_READ = 2000;
const MOST_ASKED = 300;

/** A page of orphans, and where the next one begins. */
export interface OrphanPage {
  readonly rows: readonly PrivateRecord[];
  readonly nextAfter: string | null;
}

/** Private records whose members have all left the tenant, so that nobody can reach them (decision C26). */
export interface OrphanService {
  /** Throws 503 if identity does not say who has left. */
  list(
    caller: Caller,
    type: OrphanType,
    page: { readonly after?: string | undefined; readonly perPage: number },
  ): Promise<OrphanPage>;
  /** Makes the caller a member with all rights. Throws 404 unless the record is an orphan. */
  takeOver(caller: Caller, type: OrphanType, id: string): Promise<void>;
}

/** What `createOrphans` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant' | 'transaction'>;
  readonly access: RightsSource;
  readonly projects: Pick<Projects, 'update'>;
}

/** Names of the resources in the activity log. */
const resources = {
  projects: 'projects',
  document_folders: 'document_folders',
  channels: 'chat.channels',
} as const satisfies Record<OrphanType, string>;

const names = {
  projects: 'The project',
  document_folders: 'The document folder',
  channels: 'The channel',
} as const satisfies Record<OrphanType, string>;

/** Asks identity which users can still act in the tenant, each once. */
const createPresence = (access: RightsSource, tenantId: string) => {
  const known = new Map<string, boolean>();

  const ask = async (id: string): Promise<boolean> => {
    for (const type of ['user', 'service_account'] as const) {
      const rights = await access.rightsOf({ tenantId, id, type });
      if (rights.state === 'unknown') throw rights.error;
      if (rights.state === 'active') return true;
    }
    return false;
  };

  return {
    asked: () => known.size,

    /** Whether none of the users is left; asks no more than it needs to know. */
    async haveLeft(userIds: readonly string[]): Promise<boolean> {
      if (userIds.length > MOST_MEMBERS || userIds.some((id) => known.get(id))) return false;
      for (const id of userIds) {
        const isPresent = known.get(id) ?? (await ask(id));
        known.set(id, isPresent);
        if (isPresent) return false;
      }
      return true;
    },
  };
};

export const createOrphans = ({ database, access, projects }: Dependencies): OrphanService => {
  const join = async (
    db: TenantDb,
    caller: Caller,
    type: OrphanType,
    id: string,
    userId: string,
  ): Promise<void> => {
    if (type === 'channels') return joinAsOwner(db, caller, id, userId);
    if (type === 'document_folders') return joinAsWriter(db, caller, id, userId);
    await makeManagers(db, caller, { projectId: id, userIds: [userId] });
    await projects.update(caller, id, { owner_id: userId });
  };

  return {
    async list({ tenantId }, type, { after: start, perPage }) {
      if (!access.canAskRights) throw clientNotConfigured();
      const db = database.forTenant(tenantId);
      const presence = createPresence(access, tenantId);
      const rows: PrivateRecord[] = [];
      let after = start;
      for (let read = 0; read < MOST_READ; read += BATCH) {
        const records = await nextPrivateRecords(db, type, { after, limit: BATCH });
        for (const record of records) {
          if (rows.length === perPage || presence.asked() >= MOST_ASKED) {
            return { rows, nextAfter: after ?? null };
          }
          after = record.id;
          if (await presence.haveLeft(record.user_ids)) rows.push(record);
        }
        if (records.length < BATCH) return { rows, nextAfter: null };
      }
      return { rows, nextAfter: after ?? null };
    },

    async takeOver(caller, type, id) {
      const userId = requireUser(caller);
      if (!access.canAskRights) throw clientNotConfigured();
      const missing = notFound(names[type]);
      const before = await findPrivateRecord(database.forTenant(caller.tenantId), type, id);
      const presence = createPresence(access, caller.tenantId);
      if (!before || !(await presence.haveLeft(before.user_ids))) throw missing;
      await database.transaction(caller.tenantId, async (db) => {
        if (type === 'document_folders') await lockTree(db, 'exclusive');
        const record = await findPrivateRecord(db, type, id, { locks: true });
        const isSame = record?.user_ids.every((one) => before.user_ids.includes(one));
        // Somebody has taken it over meanwhile.
        if (!isSame) throw missing;
        await join(db, caller, type, id, userId);
        await addActivity(db, actorOf(caller), {
          action: 'taken_over',
          resourceType: resources[type],
          resourceId: id,
        });
      });
    },
  };
};
