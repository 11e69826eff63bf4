import { notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Application, ApplicationsRepository } from './applications.repository.ts';

export type { Application } from './applications.repository.ts';

/** Maximum length of the list; the rest is cut off. */
export const MAX_APPLICATIONS = 500;

/** Applications with a user's consent (decision I19) or an active sign-in. */
export class ApplicationsService {
  readonly #repository: ApplicationsRepository;

  constructor(repository: ApplicationsRepository) {
    this.#repository = repository;
  }

  /** Ordered by name. */
  list({ id }: UserCaller): Promise<Application[]> {
    return this.#repository.list(id, MAX_APPLICATIONS);
  }

  /** One of the user's applications; 404 if it is not in the list. */
  async find(caller: UserCaller, clientId: string): Promise<Application> {
    const found = (await this.list(caller)).find((one) => one.clientId === clientId);
    if (!found) throw notFound('The application');
    return found;
  }

  /** Withdraws the consent to an application and revokes its tokens; 404 if it has neither. */
  async withdraw(caller: UserCaller, clientId: string, origin: Origin): Promise<void> {
    const isWithdrawn = await this.#repository.withdraw(actorOf(caller, origin), clientId);
    if (!isWithdrawn) throw notFound('The application');
  }
}
