import type { BackgroundTasks } from '@tessera/background-work';
import { type Attempts, HttpError, unauthenticated } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Config } from '../../config.ts';
import type { Transaction } from '../../database.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import { type HashingFor, signInTo } from '../../passwords/hashing-for.ts';
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

/** The client of a sign-in request. */
export interface Client extends Origin {
  /** Value of the device cookie. */
  readonly deviceSecret: string | null;
  /** Value of the previous session cookie. */
  readonly formerSecret: string | null;
  /** Value of the confirmation cookie of a registration. */
  readonly confirmationSecret: string | null;
}

/** A completed sign-in and the values of its cookies. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  /** Lifetime of the token in seconds. */
  readonly expiresIn: number;
  /** Lifetime of the session in seconds; the token can be renewed until then. */
  readonly sessionExpiresIn: number;
  /** Whether the session is locked until the PIN is verified (decision I3). */
  readonly requiresPin: boolean;
  /** Value of the session cookie. */
  readonly sessionSecret: string;
  /** Whether the session cookie survives closing the browser. */
  readonly remember: boolean;
  /** Value of the device cookie. */
  readonly deviceSecret: string;
}

/** A sign-in that needs a second factor (decision I2). */
export interface SuspendedSignIn {
  /** Can only be used for the second factor. */
  readonly pendingToken: string;
  /** Lifetime in seconds. */
  readonly expiresIn: number;
}

/** A verified account and its authentication methods (RFC 8176). */
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
  /** Quota of mails about devices, by email address and network. */
  readonly deviceMails: MailQuota;
  /** Failed attempts by email address, whether or not the account exists. */
  readonly failedAttempts: Attempts;
  readonly lifetimes: Config['lifetimes'];
  readonly background: BackgroundTasks;
  /** Whether registration is open, so that several accounts may claim an address. */
  readonly isOpen: boolean;
}

const invalidCredentials = (): HttpError =>
  new HttpError(401, 'invalid_credentials', 'The email address or the password is wrong.');

/** Opens every session, for API routes and pages. */
export class SignInService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Verifies address and password, then opens a session or requires the second factor. Response and timing are
   * the same for every failure, whether or not the account exists: 401, or 429 after too many failures. The
   * limit does not apply to devices on which the holder of the confirmed address has signed in (decision B4).
   */
  async signIn(given: Credentials, client: Client): Promise<SignedIn | SuspendedSignIn> {
    const { repository } = this.#use;
    const accounts = await repository.accounts(given.email, client.confirmationSecret);
    const owner = await this.#use.devices.ownerOf(client.deviceSecret);
    // That of an unconfirmed account would lift the limit only while nobody has confirmed the address.
    const isRecognised = owner !== null && owner === accounts.holder?.id;
    const who = signInTo(given.email, client);
    const admitted = await this.#verify(given, accounts, who, isRecognised);
    if (!admitted) {
      this.#noteFailure(accounts.holder, client);
      throw invalidCredentials();
    }
    const newHash = await this.#upgradedHash(given.password, admitted.passwordHash, who);
    return repository.transaction(async (tx) => {
      const now = await repository.lockedAccount(tx, admitted.id);
      // The account has changed since the password was verified.
      if (!now || now.passwordHash !== admitted.passwordHash || !now.isActive) {
        throw invalidCredentials();
      }
      if (newHash !== null) await repository.updateHash(tx, now.id, newHash);
      const proof = { account: now, amr: ['pwd'], remember: given.remember };
      return (await this.#needsTwoFactor(tx, now, client))
        ? this.#suspend(tx, proof)
        : this.#open(tx, proof, client);
    });
  }

  /**
   * Completes a pending sign-in after its second factor; `amr` lists the methods (RFC 8176). 401 if it was
   * completed or revoked meanwhile.
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
   * Ends the session of a token and revokes its tokens. A third-party client revokes only its own tokens, and
   * an impersonation only its token.
   */
  signOut(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#use.repository.signOut(caller, actorOf(caller, origin));
  }

  /** Ends all sessions of the user in the browser of a page, with their tokens. */
  signOutDevice(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#use.repository.signOutDevice(caller, actorOf(caller, origin));
  }

  /** The account whose password matches; null if none does. */
  async #verify(
    { email, password }: Credentials,
    accounts: Claimants,
    who: HashingFor,
    isRecognised: boolean,
  ): Promise<AdmittedAccount | null> {
    const { failedAttempts } = this.#use;
    if (!isRecognised) await failedAttempts.take(email);
    const giveBack = () => (isRecognised ? undefined : failedAttempts.giveBack(email));
    const admitted = await this.#matching(password, accounts, who).catch(async (error) => {
      await giveBack();
      throw error;
    });
    if (admitted) await giveBack();
    return admitted;
  }

  /**
   * The account whose password matches. Somebody who registers with an address confirmed by another account can
   * sign in to their own, so that nobody learns which addresses are taken. A failure takes the same time in all
   * cases.
   */
  async #matching(
    password: string,
    { holder, claimant }: Claimants,
    who: HashingFor,
  ): Promise<AdmittedAccount | null> {
    const candidates = this.#use.isOpen ? [holder, claimant] : [holder ?? claimant];
    for (const account of candidates) {
      const passwordHash = account?.passwordHash ?? null;
      const isMatch = await this.#use.passwords.matches(password, passwordHash, who);
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
    const sessionSecret = newSecret();
    const sessionExpiresIn = remember ? lifetimes.remembered : lifetimes.session;
    const expiresIn = Math.min(lifetimes.accessToken, sessionExpiresIn);
    const token = await repository.openSession(tx, account, {
      deviceId: recorded.device.id,
      deviceSecret: recorded.isShared ? recorded.secret : null,
      amr,
      secret: sessionSecret,
      formerSecret,
      isRemembered: remember,
      origin,
      lifetime: sessionExpiresIn,
      tokenLifetime: expiresIn,
    });
    await this.#notifyOfDevice(tx, account, recorded);
    return {
      account,
      token,
      expiresIn,
      sessionExpiresIn,
      requiresPin: account.hasPin,
      sessionSecret,
      remember,
      deviceSecret: recorded.secret,
    };
  }

  /**
   * Notifies the user of a new device or network, except at the first sign-in. A quota limits the mails for
   * clients without cookies.
   */
  async #notifyOfDevice(
    tx: Transaction,
    { email, firstName, locale, timezone, lastLoginAt, isConfirmed }: Account,
    { device, notice, network }: RecordedDevice,
  ): Promise<void> {
    // Not sent to an unconfirmed address, which may belong to somebody else (decision I21).
    if (!isConfirmed || notice === null || email === null || lastLoginAt === null) return;
    if (!(await this.#use.deviceMails.allows(notice, `${email}:${network}`))) return;
    const { browser, os, ipAddress, lastUsedAt: at } = device;
    const data = { firstName, device: { browser, os }, ipAddress, at, timeZone: timezone };
    await this.#use.mail.enqueue(tx, { kind: notice, to: email, locale, data });
  }

  /** A stronger hash if the stored one is outdated; a failure must not prevent the sign-in. */
  async #upgradedHash(password: string, hash: string, who: HashingFor): Promise<string | null> {
    const { passwords } = this.#use;
    return passwords.isOutdated(hash) ? passwords.hash(password, who).catch(() => null) : null;
  }

  /**
   * In the background, so that the response time does not reveal which accounts exist. Only in the log of the account that
   * has confirmed the address: that of another, which it can read after moving to an address of its own, would show
   * whether there is one.
   */
  #noteFailure(account: Account | null, origin: Origin): void {
    if (!account) return;
    const { repository, background } = this.#use;
    background.run('a failed sign-in could not be recorded', () =>
      repository.recordFailure(account, origin),
    );
  }
}
