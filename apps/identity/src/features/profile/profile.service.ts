import { invalidField, unauthenticated } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { ActivityEntry, User } from '../../generated/prisma/client.ts';
import type { Paged } from '../../lists/paging.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { OwnActivityAsked } from './own-activity.ts';
import type { ProfileChange, ProfileRepository, Security } from './profile.repository.ts';

/** A user’s own data. Who was deleted between the check of the token and here gets 401. */
export class ProfileService {
  readonly #repository: ProfileRepository;

  constructor(repository: ProfileRepository) {
    this.#repository = repository;
  }

  async show({ id }: UserCaller): Promise<User> {
    return present(await this.#repository.find(id));
  }

  /** Changes what is given; nothing given changes nothing. */
  async change(caller: UserCaller, change: ProfileChange, origin: Origin): Promise<User> {
    const isEmpty = Object.values(change).every((value) => value === undefined);
    if (isEmpty) return this.show(caller);
    return this.#repository.change(actorOf(caller, origin), change);
  }

  async security({ id }: UserCaller): Promise<Security> {
    return present(await this.#repository.security(id));
  }

  /** A page of the caller's own activity, the newest first. 422 on `to` where it is before `from`. */
  async activity({ id }: UserCaller, asked: OwnActivityAsked): Promise<Paged<ActivityEntry>> {
    const { from, to } = asked;
    if (from && to && to < from) throw invalidField('to', 'to must not be before from');
    return this.#repository.activity(id, asked);
  }

  /** An entry of the caller's own activity; null where they have no such entry. */
  activityEntry({ id }: UserCaller, entryId: string): Promise<ActivityEntry | null> {
    return this.#repository.activityEntry(id, entryId);
  }
}

const present = <T>(found: T | null): T => {
  if (found === null) throw unauthenticated();
  return found;
};
