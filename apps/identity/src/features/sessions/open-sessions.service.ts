import { notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Place, Places } from '../../origin/places.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { OpenSession, OpenSessionsRepository } from './open-sessions.repository.ts';

export interface ListedSession extends OpenSession {
  /** The caller's own. */
  readonly isCurrent: boolean;
  /** Where it was opened; null where its address is not known. */
  readonly place: Place | null;
}

/** Where people are signed in, and how they end that, one by one or all but one. */
export class OpenSessionsService {
  readonly #repository: OpenSessionsRepository;
  readonly #places: Pick<Places, 'of'>;

  constructor(repository: OpenSessionsRepository, places: Pick<Places, 'of'>) {
    this.#repository = repository;
    this.#places = places;
  }

  /** The sessions of the caller that have not ended, the last used first. */
  async list({ id, sessionId }: UserCaller): Promise<ListedSession[]> {
    const sessions = await this.#repository.list(id);
    return sessions.map((session) => ({
      ...session,
      isCurrent: session.id === sessionId,
      place: session.ipAddress === null ? null : this.#places.of(session.ipAddress),
    }));
  }

  /** Ends a session of the caller with its tokens; 404 where they have none with this id. */
  async end(caller: UserCaller, sessionId: string, origin: Origin): Promise<void> {
    const isEnded = await this.#repository.end(actorOf(caller, origin), sessionId);
    if (!isEnded) throw notFound('The session');
  }

  /** Signs the caller out everywhere but here, and trusts no other device any more. */
  endOthers(caller: UserCaller, origin: Origin): Promise<void> {
    const { sessionId, tokenId } = caller;
    return this.#repository.endOthers(actorOf(caller, origin), { sessionId, tokenId });
  }
}
