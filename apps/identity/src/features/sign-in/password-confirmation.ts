import { type Attempts, invalidField } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Passwords } from '../../passwords/passwords.ts';

interface Dependencies {
  readonly database: Pick<Database, 'user'>;
  readonly passwords: Passwords;
  /** Failed attempts by user, counted separately from failed sign-ins. */
  readonly failedAttempts: Attempts;
}

/** Message for a wrong password. */
export const WRONG_PASSWORD = 'the password is wrong';

/**
 * Verifies the password of a signed-in user before operations that a stolen token must not perform.
 */
export class PasswordConfirmation {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** 422 on the field if the password is wrong, 429 after too many wrong passwords. */
  async demand(userId: string, password: string, field = 'password'): Promise<void> {
    const { failedAttempts } = this.#use;
    await failedAttempts.take(userId);
    const isCorrect = await this.#matches(userId, password).catch(async (error: unknown) => {
      await failedAttempts.giveBack(userId);
      throw error;
    });
    if (!isCorrect) throw invalidField(field, WRONG_PASSWORD);
    await failedAttempts.giveBack(userId);
  }

  async #matches(userId: string, password: string): Promise<boolean> {
    const user = await this.#use.database.user.findUnique({ where: { id: userId } });
    return this.#use.passwords.matches(password, user?.passwordHash ?? null, userId);
  }
}
