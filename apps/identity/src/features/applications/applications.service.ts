import { notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Application, ApplicationsRepository } from './applications.repository.ts';

/** Nobody allows more applications than this; a list that is longer shows the first ones. */
export const MOST_APPLICATIONS = 500;

/** The applications that act for a person: allowed by them (decision I19), or signed in to by them. */
export class ApplicationsService {
  readonly #repository: ApplicationsRepository;

  constructor(repository: ApplicationsRepository) {
    this.#repository = repository;
  }

  /** By name. */
  list({ id }: UserCaller): Promise<Application[]> {
    return this.#repository.list(id, MOST_APPLICATIONS);
  }

  /** One of the list; 404 where it is not among them. */
  async find(caller: UserCaller, clientId: string): Promise<Application> {
    const found = (await this.list(caller)).find((one) => one.clientId === clientId);
    if (!found) throw notFound('The application');
    return found;
  }

  /** Withdraws the consent to an application and ends its tokens; 404 where it has neither. */
  async withdraw(caller: UserCaller, clientId: string, origin: Origin): Promise<void> {
    const isWithdrawn = await this.#repository.withdraw(actorOf(caller, origin), clientId);
    if (!isWithdrawn) throw notFound('The application');
  }
}
