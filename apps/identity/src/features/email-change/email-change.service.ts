import { type Attempts, HttpError, invalidField } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Background } from '../../background/background.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users/users.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import type { AccountRecovery } from './account-recovery.ts';
import type {
  EmailChangeRepository,
  Link,
  PendingChange,
  Written,
} from './email-change.repository.ts';

interface Dependencies {
  readonly repository: EmailChangeRepository;
  readonly recovery: AccountRecovery;
  readonly reauthentication: Pick<ReauthenticationService, 'demandRecent'>;
  readonly quota: MailQuota;
  /** By account: how often another address may be asked for. */
  readonly requests: Attempts;
  readonly background: Background;
}

/** What the link at the new address is about. */
export interface ShownChange {
  readonly userId: string;
  readonly email: string;
  readonly isConfirmed: boolean;
}

/** An account that has its old address again. */
export interface Restored {
  readonly userId: string;
  readonly email: string;
  /** Of a password reset. */
  readonly token: string;
}

const invalidLink = () => invalidField('token', 'the link is invalid or has expired');

const taken = (): HttpError =>
  new HttpError(409, 'address_taken', 'Another account has this email address.');

/**
 * Changes of a confirmed address: asked for by its owner, confirmed at the new address, and undone from the old
 * one. Only the person who reads the mail of an address learns whether it belongs to an account (decision I20).
 */
export class EmailChangeService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** The change that waits for its confirmation; null where none does. */
  pending({ id }: UserCaller): Promise<PendingChange | null> {
    return this.#use.repository.pending(id);
  }

  /**
   * Has a link sent to the new address or, where that belongs to an account, a mail that tells its holder; nothing
   * changes yet. Neither the answer nor its time tells the caller which it is. 403 without a recent authentication, 422 where it is
   * the address that they have, 429 after too many.
   */
  async request(caller: UserCaller, email: string, origin: Origin): Promise<void> {
    const { repository, reauthentication, requests } = this.#use;
    await reauthentication.demandRecent(caller);
    if (email === caller.email)
      throw invalidField('email', 'is the address of the account already');
    await requests.take(caller.id);
    this.#send(await repository.request(actorOf(caller, origin), email));
  }

  /** Has another link sent to the new address. 409 where no change waits, 429 after too many. */
  async resend(caller: UserCaller): Promise<void> {
    const { repository, requests } = this.#use;
    await requests.take(caller.id);
    const written = await repository.again(caller.id);
    if (!written) throw new HttpError(409, 'conflict', 'No change of the address is pending.');
    this.#send(written);
  }

  /** Gives up the change that waits; nothing happens where none does. */
  cancel(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#use.repository.cancel(actorOf(caller, origin));
  }

  /** What the link at the new address is about. 422 on `token` where it is good for nothing. */
  async show(token: string): Promise<ShownChange> {
    const link = await this.#use.repository.find('email_change', token);
    const isConfirmed = link?.user.email === link?.email;
    if (!link || (link.token.usedAt !== null && !isConfirmed)) throw invalidLink();
    return { userId: link.user.id, email: link.email, isConfirmed };
  }

  /**
   * Gives the account the address that the link was sent to; sessions go on, and the old address is told how to
   * undo it. 422 on `token` where the link is good for nothing, 409 `address_taken` where another person has
   * confirmed the address meanwhile.
   */
  async confirm(token: string, origin: Origin): Promise<void> {
    const link = await this.#unused('email_change', token);
    const isDone = await this.#unlessTaken(() => this.#use.repository.confirm(link, origin));
    if (!isDone) throw invalidLink();
  }

  /** The address that the link gives back. 422 on `token` where it is good for nothing. */
  async showUndo(token: string): Promise<{ readonly userId: string; readonly email: string }> {
    const { email, user } = await this.#unused('email_change_undo', token);
    return { userId: user.id, email };
  }

  /**
   * Gives the account back the address that the link was sent to, whatever has happened to it since: everybody
   * is signed out, the password is void, and factors that were set up since the change are removed. Later addresses
   * can undo nothing more. 422 on `token` where the link is good for nothing, 409 `address_taken` where
   * another person has confirmed the address meanwhile.
   */
  async undo(token: string, origin: Origin): Promise<Restored> {
    const link = await this.#unused('email_change_undo', token);
    const { repository, recovery } = this.#use;
    const reset = await this.#unlessTaken(() =>
      repository.undo(link, origin, (tx, user) =>
        recovery.recover(tx, user, link.email, link.token.createdAt),
      ),
    );
    if (reset === undefined) throw invalidLink();
    return { userId: link.user.id, email: link.email, token: reset };
  }

  async #unused(purpose: 'email_change' | 'email_change_undo', token: string): Promise<Link> {
    const link = await this.#use.repository.find(purpose, token);
    if (!link || link.token.usedAt !== null) throw invalidLink();
    return link;
  }

  #unlessTaken<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: unknown) => {
      throw isAddressTaken(error) ? taken() : error;
    });
  }

  #send(written: Written): void {
    const { repository, quota, background } = this.#use;
    const { email } = written;
    background.run('a change of an address was not sent', async () => {
      const holder = await repository.holder(email);
      if (!holder) {
        if (await quota.admits('email_change', email)) await repository.sendLink(written);
      } else if (holder.isActive && (await quota.admits('email_change_taken', email))) {
        await repository.tellHolder(holder);
      }
    });
  }
}
