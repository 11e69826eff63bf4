import { HttpError, notFound } from '@tessera/http-kit';
import { impersonationForbidden, personOf } from '../../access/access.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import { invalidToken } from '../../tokens/authenticate.ts';
import type { Caller } from '../../tokens/caller.ts';
import type { ImpersonationRepository } from './impersonation.repository.ts';

export interface StartedImpersonation {
  readonly token: string;
  /** Seconds that the token lives. */
  readonly expiresIn: number;
  readonly user: User;
}

/** Who acts, and as whom: 404, or 403 where nobody may act as that user. */
const judge = (administrator: User | null, user: User | null): User => {
  if (!administrator?.isActive || !administrator.isSystemAdmin) {
    throw new HttpError(403, 'permission_denied', 'This is for system administrators.');
  }
  if (!user) throw notFound('The user');
  if (user.isSystemAdmin) throw impersonationForbidden('Nobody acts as an administrator.');
  if (user.isServiceAccount) throw impersonationForbidden('Nobody acts as a service account.');
  if (!user.isActive) throw impersonationForbidden('The user is deactivated.');
  return user;
};

/** Administrators act as other users, for a while and with a reason (decision I16). */
export class ImpersonationService {
  readonly #repository: ImpersonationRepository;
  /** Seconds. */
  readonly #lifetime: number;

  constructor(repository: ImpersonationRepository, lifetime: number) {
    this.#repository = repository;
    this.#lifetime = lifetime;
  }

  /**
   * Gives a token by which the caller acts as the user. It opens no session: it belongs to the caller's own
   * and ends with that.
   */
  async start(
    caller: Caller,
    userId: string,
    reason: string,
    origin: Origin,
  ): Promise<StartedImpersonation> {
    const lifetime = this.#lifetime;
    const person = personOf(caller);
    const asked = { caller: person, userId, reason, lifetime, origin };
    const started = await this.#repository.start(asked, judge);
    if (started === 'gone') throw invalidToken();
    return started;
  }
}
