import { type Attempts, invalidField } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Passwords } from '../../passwords/passwords.ts';

interface Dependencies {
  readonly database: Pick<Database, 'user'>;
  readonly passwords: Passwords;
  /** By user: those of strangers at the door do not count here. */
  readonly failedAttempts: Attempts;
}

/** What a program is told of a password that is not the user's. */
export const WRONG_PASSWORD = 'the password is wrong';

/** Asks who is signed in for their password once more, before what a stolen token must not do. */
export class PasswordConfirmation {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** 422 on the field when the password is wrong, 429 after too many of these. */
  async demand(userId: string, password: string, field = 'password'): Promise<void> {
    const { failedAttempts } = this.#use;
    await failedAttempts.take(userId);
    const isRight = await this.#matches(userId, password).catch(async (error: unknown) => {
      await failedAttempts.giveBack(userId);
      throw error;
    });
    if (!isRight) throw invalidField(field, WRONG_PASSWORD);
    await failedAttempts.giveBack(userId);
  }

  async #matches(userId: string, password: string): Promise<boolean> {
    const user = await this.#use.database.user.findUnique({ where: { id: userId } });
    return this.#use.passwords.matches(password, user?.passwordHash ?? null, userId);
  }
}
