import { HttpError } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { PasswordConfirmation } from '../sign-in/password-confirmation.ts';
import type { ReauthenticationRepository } from './reauthentication.repository.ts';

interface Dependencies {
  readonly repository: ReauthenticationRepository;
  readonly confirmation: PasswordConfirmation;
  /** Seconds after which an authentication is no longer recent. */
  readonly maxAge: number;
}

const reauthenticationRequired = (): HttpError =>
  new HttpError(
    403,
    'reauthentication_required',
    'This needs a recent authentication. Confirm your password with `POST /api/auth/reauthenticate` or your second factor with `POST /api/auth/2fa/verify`.',
  );

/**
 * Demands a recent authentication for sensitive operations, so that somebody who takes over an open session
 * cannot add or remove a factor (decision I19). Used by API routes and pages.
 */
export class ReauthenticationService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * 403 `reauthentication_required` unless the user has recently authenticated in the caller's session.
   */
  async requireRecent(caller: UserCaller): Promise<void> {
    if (!(await this.isRecent(caller))) throw reauthenticationRequired();
  }

  /** Whether the user has recently authenticated in the caller's session. */
  async isRecent({ sessionId }: UserCaller): Promise<boolean> {
    const { repository, maxAge } = this.#use;
    return sessionId !== null && (await repository.isRecent(sessionId, maxAge));
  }

  /**
   * Confirms the user's password, which makes their authentication recent. 422 on a wrong password, 429 after
   * too many.
   */
  async reauthenticate(caller: UserCaller, password: string, origin: Origin): Promise<void> {
    const { repository, confirmation } = this.#use;
    const actor = actorOf(caller, origin);
    try {
      await confirmation.demand(caller.id, password);
    } catch (error) {
      const isWrong = error instanceof HttpError && error.code === 'validation_failed';
      if (isWrong) await repository.noteFailure(actor);
      throw error;
    }
    if (caller.sessionId !== null) await repository.record(caller.sessionId, actor);
  }
}
