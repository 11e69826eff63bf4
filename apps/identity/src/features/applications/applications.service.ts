import { notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity.ts';
import type { Origin } from '../../origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Application, ApplicationsRepository } from './applications.repository.ts';

/** Nobody allows more applications than this; a list that is longer shows the first ones. */
export const MOST_APPLICATIONS = 500;

/** The applications that a person allowed to act for them (decision I19). */
export class ApplicationsService {
  readonly #repository: ApplicationsRepository;

  constructor(repository: ApplicationsRepository) {
    this.#repository = repository;
  }

  list({ id }: UserCaller): Promise<Application[]> {
    return this.#repository.list(id, MOST_APPLICATIONS);
  }

  /** Withdraws the consent to an application and ends its tokens; 404 where there is none. */
  async withdraw(caller: UserCaller, clientId: string, origin: Origin): Promise<void> {
    const isWithdrawn = await this.#repository.withdraw(actorOf(caller, origin), clientId);
    if (!isWithdrawn) throw notFound('The application');
  }
}
