import { HttpError, type Logger } from '@tessera/http-kit';
import type { Config } from '../../config.ts';
import type { Passwords } from '../../passwords.ts';
import { newSecret } from '../../secrets.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import type { Origin } from '../../origin.ts';
import type { Account, SignInRepository } from './sign-in.repository.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly remember: boolean;
}

export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  /** Seconds that the token lives. */
  readonly expiresIn: number;
  /** Seconds that the session lives: so long can the token be renewed. */
  readonly sessionExpiresIn: number;
  /** The value of the session cookie. */
  readonly sessionSecret: string;
}

interface Dependencies {
  readonly repository: SignInRepository;
  readonly passwords: Passwords;
  readonly failedAttempts: FailedAttempts;
  readonly lifetimes: Config['lifetimes'];
  readonly logger: Logger;
}

const invalidCredentials = (): HttpError =>
  new HttpError(401, 'invalid_credentials', 'The e-mail address or the password is wrong.');

export class SignInService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Checks address and password and opens a session. Whatever is wrong, and whether or not the account
   * exists, the answer and the time it takes are the same: 401, and 429 after too many failures.
   */
  async signIn(given: Credentials, origin: Origin): Promise<SignedIn> {
    const { repository, failedAttempts, lifetimes } = this.#use;
    await failedAttempts.take(given.email);
    const judged = await this.#judge(given).catch(async (error: unknown) => {
      await failedAttempts.giveBack(given.email);
      throw error;
    });
    if (!judged.admitted) {
      this.#noteFailure(judged.account, origin);
      throw invalidCredentials();
    }
    await failedAttempts.giveBack(given.email);
    const { account } = judged;
    const sessionSecret = newSecret();
    const lifetime = given.remember ? lifetimes.remembered : lifetimes.session;
    const token = await repository.openSession({
      account,
      newHash: await this.#upgraded(given.password, judged.hash),
      secret: sessionSecret,
      lifetime,
      tokenLifetime: lifetimes.accessToken,
      origin,
    });
    if (token === null) throw invalidCredentials();
    const expiresIn = lifetimes.accessToken;
    return { account, token, expiresIn, sessionExpiresIn: lifetime, sessionSecret };
  }

  /** Ends the session behind a token, with every token that hangs on it. */
  signOut(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#use.repository.endSession(caller, origin);
  }

  async #judge({ email, password }: Credentials): Promise<Judgement> {
    const account = await this.#use.repository.account(email);
    const hash = account?.passwordHash ?? null;
    const matches = await this.#use.passwords.matches(password, hash);
    return account && hash && matches && account.isActive
      ? { admitted: true, account, hash }
      : { admitted: false, account };
  }

  /** The hash to keep from now on, where the old one was made with less work; not worth a refusal. */
  async #upgraded(password: string, hash: string): Promise<string | null> {
    const { passwords } = this.#use;
    return passwords.isOutdated(hash) ? passwords.hash(password).catch(() => null) : null;
  }

  /** Beside the answer: one that waited for it would tell which accounts exist. */
  #noteFailure(account: Account | null, origin: Origin): void {
    if (!account) return;
    this.#use.repository.recordFailure(account, origin).catch((err: unknown) => {
      this.#use.logger.error({ err }, 'a failed sign-in was not recorded');
    });
  }
}

type Judgement =
  | { readonly admitted: true; readonly account: Account; readonly hash: string }
  | { readonly admitted: false; readonly account: Account | null };
