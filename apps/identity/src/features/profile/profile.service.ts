import { unauthenticated } from '@tessera/http-kit';
import { actorOf } from '../../activity.ts';
import type { ActivityEntry, User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin.ts';
import type { PageAsked, Paged } from '../../paging.ts';
import type { UserCaller } from '../../tokens/caller.ts';
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

  activity({ id }: UserCaller, asked: PageAsked): Promise<Paged<ActivityEntry>> {
    return this.#repository.activity(id, asked);
  }
}

const present = <T>(found: T | null): T => {
  if (found === null) throw unauthenticated();
  return found;
};
