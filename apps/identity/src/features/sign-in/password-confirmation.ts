import { type Attempts, HttpError, invalidField } from '@tessera/http-kit';
import type { Database, Transaction } from '../../database.ts';
import { signedIn } from '../../passwords/hashing-for.ts';
import type { Passwords } from '../../passwords/passwords.ts';

interface Dependencies {
  readonly database: Pick<Database, 'user'>;
  readonly passwords: Passwords;
  /** Failed attempts by user, counted separately from failed sign-ins. */
  readonly failedAttempts: Attempts;
}

/** Message for a wrong password. */
export const WRONG_PASSWORD = 'the password is wrong';

/** 409 */
export const passwordChanged = (): HttpError =>
  new HttpError(409, 'conflict', 'The password was changed at the same time. Try again.');

/** A password that `demand` has verified. */
export interface VerifiedPassword {
  readonly userId: string;
  readonly passwordHash: string;
}

/** 409 if a password has changed since it was verified. The caller must hold the lock of the user. */
export const requireUnchanged = async (
  tx: Pick<Transaction, 'user'>,
  { userId, passwordHash }: VerifiedPassword,
): Promise<void> => {
  if ((await tx.user.count({ where: { id: userId, passwordHash } })) === 0) throw passwordChanged();
};

/**
 * Verifies the password of a signed-in user before operations that a stolen token must not perform.
 */
export class PasswordConfirmation {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * 422 on the field if the password is wrong, 429 after too many wrong passwords. Returns what was verified:
   * verifying takes long enough for the password to change meanwhile (`requireUnchanged`).
   */
  async demand(userId: string, password: string, field = 'password'): Promise<VerifiedPassword> {
    const { failedAttempts } = this.#use;
    await failedAttempts.take(userId);
    const passwordHash = await this.#verify(userId, password).catch(async (error: unknown) => {
      await failedAttempts.giveBack(userId);
      throw error;
    });
    if (passwordHash === null) throw invalidField(field, WRONG_PASSWORD);
    await failedAttempts.giveBack(userId);
    return { userId, passwordHash };
  }

  /** The hash that a password matches; null if it is wrong. */
  async #verify(userId: string, password: string): Promise<string | null> {
    const user = await this.#use.database.user.findUnique({ where: { id: userId } });
    const hash = user?.passwordHash ?? null;
    return (await this.#use.passwords.matches(password, hash, signedIn(userId))) ? hash : null;
  }
}
