import { invalidField, unauthenticated } from '@tessera/http-kit';
import { tenantForbidden } from '../../access/access.ts';
import { actorOf } from '../../activity/activity.ts';
import type { ActivityEntry, User } from '../../generated/prisma/client.ts';
import type { Paged } from '../../lists/paging.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { OwnActivityQuery } from './own-activity.ts';
import type { ProfileChange, ProfileRepository, Security } from './profile.repository.ts';

export type { Security } from './profile.repository.ts';

/** A user's own profile. 401 if the user was deleted after the token was checked. */
export class ProfileService {
  readonly #repository: ProfileRepository;

  constructor(repository: ProfileRepository) {
    this.#repository = repository;
  }

  async show({ id }: UserCaller): Promise<User> {
    return present(await this.#repository.find(id));
  }

  /** Updates the given fields; no effect if the profile has all of the values. */
  async change(caller: UserCaller, change: ProfileChange, origin: Origin): Promise<User> {
    return present(await this.#repository.change(actorOf(caller, origin), change));
  }

  async security({ id }: UserCaller): Promise<Security> {
    return present(await this.#repository.security(id));
  }

  /**
   * One page of the caller's own activity, newest first; with a tenant's or a third-party client, only that in its
   * tenant. 422 on `to` if it is before `from`.
   */
  async activity(
    caller: UserCaller,
    query: Omit<OwnActivityQuery, 'tenantId'>,
  ): Promise<Paged<ActivityEntry>> {
    const { from, to } = query;
    if (from && to && to < from) throw invalidField('to', 'to must not be before from');
    return this.#repository.activity(caller.id, { ...query, tenantId: visibleTenant(caller) });
  }

  /** An entry of the caller's own activity; null if there is none with this id. */
  activityEntry({ id }: UserCaller, entryId: string): Promise<ActivityEntry | null> {
    return this.#repository.activityEntry(id, entryId);
  }
}

/** The tenant whose activity the caller's client may read; undefined: all. */
const visibleTenant = ({ clientKind, tenant }: UserCaller): string | undefined => {
  if (clientKind === 'first_party') return undefined;
  if (tenant === null) throw tenantForbidden();
  return tenant.id;
};

const present = <T>(found: T | null): T => {
  if (found === null) throw unauthenticated();
  return found;
};
