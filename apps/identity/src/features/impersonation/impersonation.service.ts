import { HttpError, notFound } from '@tessera/http-kit';
import { impersonationForbidden, personOf } from '../../access/access.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import { invalidToken } from '../../tokens/authenticate.ts';
import type { Caller } from '../../tokens/caller.ts';
import type { ImpersonationRepository } from './impersonation.repository.ts';

export interface StartedImpersonation {
  readonly token: string;
  /** Lifetime of the token in seconds. */
  readonly expiresIn: number;
  readonly user: User;
}

/** Checks that the caller may impersonate the user. 404 if there is no such user, otherwise 403. */
const authorize = (administrator: User | null, user: User | null): User => {
  if (!administrator?.isActive || !administrator.isSystemAdmin) {
    throw new HttpError(
      403,
      'permission_denied',
      'Only system administrators can impersonate users.',
    );
  }
  if (!user) throw notFound('The user');
  if (user.isSystemAdmin) throw impersonationForbidden('An administrator cannot be impersonated.');
  if (user.isServiceAccount)
    throw impersonationForbidden('A service account cannot be impersonated.');
  if (!user.isActive) throw impersonationForbidden('The user is deactivated.');
  return user;
};

/**
 * Impersonation of users by system administrators, for a limited time and with a reason (decision I16).
 */
export class ImpersonationService {
  readonly #repository: ImpersonationRepository;
  /** Lifetime of a token in seconds. */
  readonly #lifetime: number;

  constructor(repository: ImpersonationRepository, lifetime: number) {
    this.#repository = repository;
    this.#lifetime = lifetime;
  }

  /**
   * Issues an impersonation token. It opens no session: it belongs to the caller's session and ends with it.
   */
  async start(
    caller: Caller,
    userId: string,
    reason: string,
    origin: Origin,
  ): Promise<StartedImpersonation> {
    const lifetime = this.#lifetime;
    const person = personOf(caller);
    const impersonation = { caller: person, userId, reason, lifetime, origin };
    const started = await this.#repository.start(impersonation, authorize);
    if (started === 'gone') throw invalidToken();
    return started;
  }
}
