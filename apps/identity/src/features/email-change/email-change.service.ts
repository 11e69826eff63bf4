import type { BackgroundTasks } from '@tessera/background-work';
import { type Attempts, HttpError, invalidField } from '@tessera/http-kit';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users/users.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import type { AccountRecovery } from './account-recovery.ts';
import type {
  ConfirmationMail,
  EmailChangeRepository,
  MailedLink,
  PendingChange,
} from './email-change.repository.ts';

export type { PendingChange } from './email-change.repository.ts';

interface Dependencies {
  readonly repository: EmailChangeRepository;
  readonly recovery: AccountRecovery;
  readonly reauthentication: Pick<ReauthenticationService, 'requireRecent'>;
  readonly quota: MailQuota;
  /** Rate limit of requested changes per account. */
  readonly requests: Attempts;
  readonly background: BackgroundTasks;
}

/** A change as shown on the confirmation page. */
export interface ConfirmableChange {
  readonly userId: string;
  readonly email: string;
  readonly isConfirmed: boolean;
}

/** An account whose old address was restored. */
export interface RestoredAccount {
  readonly userId: string;
  readonly email: string;
  /** Password reset token. */
  readonly token: string;
}

const invalidLink = () => invalidField('token', 'the link is invalid or has expired');

const addressTaken = (): HttpError =>
  new HttpError(409, 'address_taken', 'Another account has this email address.');

/**
 * Changes of a confirmed email address: requested by the user, confirmed at the new address, undone from the
 * old one. Only the owner of an address learns whether it belongs to an account (decision I20).
 */
export class EmailChangeService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** The pending change; null if there is none. */
  pending({ id }: UserCaller): Promise<PendingChange | null> {
    return this.#use.repository.pending(id);
  }

  /**
   * Sends a confirmation link to the new address or, if another account has it, a notice to its holder; nothing
   * changes yet. The response and its timing do not reveal which. 403 without a recent authentication, 422 if
   * the address is unchanged, 429 after too many requests.
   */
  async request(caller: UserCaller, email: string, origin: Origin): Promise<void> {
    const { repository, reauthentication, requests } = this.#use;
    await reauthentication.requireRecent(caller);
    if (email === caller.email) throw invalidField('email', 'must differ from the current address');
    await requests.take(caller.id);
    this.#send(await repository.request(caller, origin, email));
  }

  /** Resends the confirmation link. 409 if no change is pending, 429 after too many requests. */
  async resend(caller: UserCaller): Promise<void> {
    const { repository, requests } = this.#use;
    await requests.take(caller.id);
    const confirmation = await repository.renew(caller);
    if (!confirmation) throw new HttpError(409, 'conflict', 'No change of the address is pending.');
    this.#send(confirmation);
  }

  /** Cancels the pending change; no effect if there is none. */
  cancel(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#use.repository.cancel(caller, origin);
  }

  /** The change that a confirmation link is for. 422 on `token` if the link is invalid. */
  async show(token: string): Promise<ConfirmableChange> {
    const link = await this.#use.repository.find('email_change', token);
    const isConfirmed = link?.user.email === link?.email;
    if (!link || (link.token.usedAt !== null && !isConfirmed)) throw invalidLink();
    return { userId: link.user.id, email: link.email, isConfirmed };
  }

  /**
   * Changes the address to the one the link was sent to; sessions continue, and the old address gets an undo
   * link. 422 on `token` if the link is invalid, 409 `address_taken` if another user has confirmed the address.
   */
  async confirm(token: string, origin: Origin): Promise<void> {
    const link = await this.#unused('email_change', token);
    const isDone = await this.#unlessTaken(() => this.#use.repository.confirm(link, origin));
    if (!isDone) throw invalidLink();
  }

  /** The address that an undo link restores. 422 on `token` if the link is invalid. */
  async showUndo(token: string): Promise<{ readonly userId: string; readonly email: string }> {
    const { email, user } = await this.#unused('email_change_undo', token);
    return { userId: user.id, email };
  }

  /**
   * Restores the address the link was sent to, whatever has happened to the account since: ends all sessions,
   * voids the password, and removes factors and recovery codes set up since the change was requested. Undo links of later
   * addresses stop working. 422 on `token` if the link is invalid, 409 `address_taken` if another user has
   * confirmed the address.
   */
  async undo(token: string, origin: Origin): Promise<RestoredAccount> {
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

  async #unused(purpose: 'email_change' | 'email_change_undo', token: string): Promise<MailedLink> {
    const link = await this.#use.repository.find(purpose, token);
    if (!link || link.token.usedAt !== null) throw invalidLink();
    return link;
  }

  #unlessTaken<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: unknown) => {
      throw isAddressTaken(error) ? addressTaken() : error;
    });
  }

  #send(confirmation: ConfirmationMail): void {
    const { repository, quota, background } = this.#use;
    const { email } = confirmation;
    background.run('the confirmation mail of an address change could not be sent', async () => {
      const holder = await repository.holder(email);
      if (!holder) {
        if (await quota.allows('email_change', email)) await repository.sendLink(confirmation);
      } else if (holder.isActive && (await quota.allows('email_change_taken', email))) {
        await repository.notifyHolder(holder);
      }
    });
  }
}
