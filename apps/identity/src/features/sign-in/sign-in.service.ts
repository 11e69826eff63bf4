import { type Attempts, HttpError, unauthenticated } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Background } from '../../background/background.ts';
import type { Config } from '../../config.ts';
import type { Transaction } from '../../database.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import { newSecret } from '../../security/secrets.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { DevicesService, RecordedDevice } from '../devices/devices.service.ts';
import type { Account, Claimants, SignInRepository } from './sign-in.repository.ts';

export type { Account };

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly remember: boolean;
}

/** Where a sign-in comes from. */
export interface Client extends Origin {
  /** The value of the device cookie. */
  readonly deviceSecret: string | null;
  /** The value of the session cookie of before. */
  readonly formerSecret: string | null;
  /** The value of the cookie of a registration. */
  readonly confirmationSecret: string | null;
}

/** A sign-in that is done, and what a browser keeps of it. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  /** Seconds that the token lives. */
  readonly expiresIn: number;
  /** Seconds that the session lives: so long can the token be renewed. */
  readonly sessionExpiresIn: number;
  /** Nothing is served until the PIN is verified (decision I3). */
  readonly requiresPin: boolean;
  /** The value of the session cookie. */
  readonly sessionSecret: string;
  /** Whether the session cookie outlives the browser. */
  readonly remember: boolean;
  readonly deviceId: string;
  /** The value of the device cookie. */
  readonly deviceSecret: string;
}

/** A sign-in that waits for its second factor (decision I2). */
export interface SuspendedSignIn {
  /** Good for nothing but the second factor. */
  readonly pendingToken: string;
  /** Seconds that it lives. */
  readonly expiresIn: number;
}

/** Who has proved to be an account, by which means (RFC 8176). */
interface Proof {
  readonly account: Account;
  readonly amr: readonly string[];
  readonly remember: boolean;
}

type AdmittedAccount = Account & { readonly passwordHash: string };

interface Dependencies {
  readonly repository: SignInRepository;
  readonly passwords: Passwords;
  readonly devices: DevicesService;
  readonly mail: Pick<MailOutbox, 'enqueue'>;
  /** By address of an account and network: mails about devices. */
  readonly deviceMails: MailQuota;
  /** By address of an account, whether or not it exists. */
  readonly failedAttempts: Attempts;
  readonly lifetimes: Config['lifetimes'];
  readonly background: Background;
  /** Whether anybody may register: then many may claim an address. */
  readonly isOpen: boolean;
}

const invalidCredentials = (): HttpError =>
  new HttpError(401, 'invalid_credentials', 'The e-mail address or the password is wrong.');

/** Every way into a session ends here, whoever asks: routes or pages. */
export class SignInService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Checks address and password, then opens a session, or asks for the second factor. Whatever is wrong,
   * and whether or not the account exists, the answer and the time it takes are the same: 401, and 429
   * after too many failures. Those do not count where the account was signed in before (decision B4).
   */
  async signIn(given: Credentials, client: Client): Promise<SignedIn | SuspendedSignIn> {
    const { repository } = this.#use;
    const accounts = await repository.accounts(given.email, client.confirmationSecret);
    const owner = await this.#use.devices.ownerOf(client.deviceSecret);
    // The device of somebody who merely registered with a holder's address lifts no limit of the holder.
    const isRecognised = owner !== null && owner === (accounts.holder ?? accounts.claimant)?.id;
    const admitted = await this.#judge(given, accounts, isRecognised);
    if (!admitted) {
      this.#noteFailure(accounts.holder ?? accounts.claimant, client);
      throw invalidCredentials();
    }
    const newHash = await this.#upgraded(given, admitted.passwordHash);
    return repository.transaction(async (tx) => {
      const now = await repository.lockedAccount(tx, admitted.id);
      // Changed since the password was checked.
      if (!now || now.passwordHash !== admitted.passwordHash || !now.isActive) {
        throw invalidCredentials();
      }
      if (newHash !== null) await repository.keepHash(tx, now.id, newHash);
      const proof = { account: now, amr: ['pwd'], remember: given.remember };
      return (await this.#needsTwoFactor(tx, now, client))
        ? this.#suspend(tx, proof)
        : this.#open(tx, proof, client);
    });
  }

  /**
   * Ends a sign-in that waited for its second factor, which has been given: `amr` says how (RFC 8176). 401
   * when it ended already, or was revoked meanwhile.
   */
  async resume(
    tx: Transaction,
    { id, tokenId }: UserCaller,
    amr: readonly string[],
    client: Client,
  ): Promise<SignedIn> {
    const { repository } = this.#use;
    const account = await repository.lockedAccount(tx, id);
    const pending = await repository.resume(tx, tokenId);
    if (!account?.isActive || !pending) throw unauthenticated();
    const proof = { account, amr: ['pwd', ...amr], remember: pending.remember };
    return this.#open(tx, proof, client);
  }

  /**
   * Ends the session behind a token, with every token that hangs on it. A third-party client ends its own
   * tokens, and an administrator who acts as somebody else the token of that.
   */
  signOut(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#use.repository.signOut(caller, actorOf(caller, origin));
  }

  /** The account as the password was checked; null where it admits nobody. */
  async #judge(
    { email, password }: Credentials,
    accounts: Claimants,
    isRecognised: boolean,
  ): Promise<AdmittedAccount | null> {
    const { failedAttempts } = this.#use;
    if (!isRecognised) await failedAttempts.take(email);
    const giveBack = () => (isRecognised ? undefined : failedAttempts.giveBack(email));
    const admitted = await this.#matching(password, email, accounts).catch(async (error) => {
      await giveBack();
      throw error;
    });
    if (admitted) await giveBack();
    return admitted;
  }

  /**
   * Whose password it is. Who registers with an address that somebody else has confirmed can sign in to
   * what they registered, so that nobody learns from it which addresses are taken; it takes as long to
   * find out that it is nobody's.
   */
  async #matching(
    password: string,
    email: string,
    { holder, claimant }: Claimants,
  ): Promise<AdmittedAccount | null> {
    const candidates = this.#use.isOpen ? [holder, claimant] : [holder ?? claimant];
    for (const account of candidates) {
      const passwordHash = account?.passwordHash ?? null;
      const isMatch = await this.#use.passwords.matches(password, passwordHash, email);
      if (isMatch && passwordHash !== null && account?.isActive) {
        return { ...account, passwordHash };
      }
    }
    return null;
  }

  async #needsTwoFactor(tx: Transaction, account: Account, client: Client): Promise<boolean> {
    if (!account.hasTwoFactor) return false;
    return !(await this.#use.devices.isTrusted(tx, account.id, client.deviceSecret));
  }

  async #suspend(tx: Transaction, { account, remember }: Proof): Promise<SuspendedSignIn> {
    const lifetime = this.#use.lifetimes.pendingSignIn;
    const pendingToken = await this.#use.repository.suspend(tx, account, { remember, lifetime });
    return { pendingToken, expiresIn: lifetime };
  }

  async #open(tx: Transaction, proof: Proof, client: Client): Promise<SignedIn> {
    const { repository, devices, lifetimes } = this.#use;
    const { account, amr, remember } = proof;
    const { deviceSecret, formerSecret, confirmationSecret: _, ...origin } = client;
    const recorded = await devices.record(tx, account.id, deviceSecret, origin);
    const deviceId = recorded.device.id;
    const sessionSecret = newSecret();
    const sessionExpiresIn = remember ? lifetimes.remembered : lifetimes.session;
    const expiresIn = Math.min(lifetimes.accessToken, sessionExpiresIn);
    const token = await repository.openSession(tx, account, {
      deviceId,
      amr,
      secret: sessionSecret,
      formerSecret,
      isRemembered: remember,
      origin,
      lifetime: sessionExpiresIn,
      tokenLifetime: expiresIn,
    });
    await this.#tellOfDevice(tx, account, recorded);
    return {
      account,
      token,
      expiresIn,
      sessionExpiresIn,
      requiresPin: account.hasPin,
      sessionSecret,
      remember,
      deviceId,
      deviceSecret: recorded.secret,
    };
  }

  /** The first sign-in of all is from nowhere new. A client that keeps no cookies causes no flood of mails. */
  async #tellOfDevice(
    tx: Transaction,
    { email, firstName, locale, timezone, lastLoginAt, isConfirmed }: Account,
    { device, news, network }: RecordedDevice,
  ): Promise<void> {
    // An address that nobody confirmed may be a stranger's: they are told nothing of it (decision I21).
    if (!isConfirmed || news === null || email === null || lastLoginAt === null) return;
    if (!(await this.#use.deviceMails.admits(news, `${email}:${network}`))) return;
    const { browser, os, ipAddress, lastUsedAt: at } = device;
    const data = { firstName, device: { browser, os }, ipAddress, at, timeZone: timezone };
    await this.#use.mail.enqueue(tx, { kind: news, to: email, locale, data });
  }

  /** The hash to keep from now on, where the old one was made with less work; not worth a refusal. */
  async #upgraded({ email, password }: Credentials, hash: string): Promise<string | null> {
    const { passwords } = this.#use;
    return passwords.isOutdated(hash) ? passwords.hash(password, email).catch(() => null) : null;
  }

  /** Beside the answer: one that waited for it would tell which accounts exist. */
  #noteFailure(account: Account | null, origin: Origin): void {
    if (!account) return;
    const { repository, background } = this.#use;
    background.run('a failed sign-in was not recorded', () =>
      repository.recordFailure(account, origin),
    );
  }
}
