import { notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Place, Places } from '../../origin/places.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { OpenSession, OpenSessionsRepository } from './open-sessions.repository.ts';

export interface ListedSession extends OpenSession {
  /** Whether it is the caller's session. */
  readonly isCurrent: boolean;
  /** Location where it was opened; null if unknown. */
  readonly place: Place | null;
}

/** Lists and ends the open sessions of users. */
export class OpenSessionsService {
  readonly #repository: OpenSessionsRepository;
  readonly #places: Pick<Places, 'of'>;

  constructor(repository: OpenSessionsRepository, places: Pick<Places, 'of'>) {
    this.#repository = repository;
    this.#places = places;
  }

  /** The caller's open sessions, most recently used first. */
  async list({ id, sessionId }: UserCaller): Promise<ListedSession[]> {
    const sessions = await this.#repository.list(id);
    return sessions.map((session) => ({
      ...session,
      isCurrent: session.id === sessionId,
      place: session.ipAddress === null ? null : this.#places.of(session.ipAddress),
    }));
  }

  /** Ends a session and revokes its tokens; 404 if the caller has no such session. */
  async end(caller: UserCaller, sessionId: string, origin: Origin): Promise<void> {
    const isEnded = await this.#repository.end(actorOf(caller, origin), sessionId);
    if (!isEnded) throw notFound('The session');
  }

  /** Ends the caller's other sessions and revokes trust in other devices. */
  endOthers(caller: UserCaller, origin: Origin): Promise<void> {
    const { sessionId, tokenId } = caller;
    return this.#repository.endOthers(actorOf(caller, origin), { sessionId, tokenId });
  }
}
