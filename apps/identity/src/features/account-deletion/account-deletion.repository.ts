import { type Actor, actorOf, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { AccountDeletion, User } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import type { Origin } from '../../origin/origin.ts';
import {
  bumpPolicyVersion,
  enqueue,
  lockPolicyVersion,
  type NewEvent,
} from '../../outbox/outbox.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { whileSignedIn } from '../../tokens/origin.ts';
import { lockSessions } from '../../tokens/revoke.ts';
import { removeUser } from '../../users/user-removal.ts';
import { lockAdministrators } from '../admin-users/administrators.ts';

import { type Blockers, blockersOf, isBlocked } from './blockers.ts';
import { schedule } from './schedule.ts';

/** The result of trying to delete one account. */
export type Outcome =
  | 'deleted'
  /**
   * Not deleted: the user is the only owner or administrator of something. The user is notified by mail.
   */
  | 'kept'
  /** The user cancelled the deletion, or another replica is processing it. */
  | 'not_due';

interface Dependencies {
  readonly database: Database;
  readonly mail: Pick<MailOutbox, 'enqueue'>;
  readonly securityMails: Pick<SecurityMails, 'notify'>;
}

/** A user with many activity entries is still deleted in one transaction. */
const TRANSACTION = { maxWait: 10_000, timeout: 300_000 };

/** Seconds before the deletion at which the reminder is sent. */
const REMINDER_SECONDS = 86_400;

/** Rolls the transaction back: the user joined a tenant that is not locked. */
class JoinedAnotherTenant extends Error {}

export class AccountDeletionRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  find(userId: string): Promise<AccountDeletion | null> {
    return this.#use.database.accountDeletion.findUnique({ where: { userId } });
  }

  blockers(userId: string): Promise<Blockers> {
    return this.#use.database.$transaction((tx) => blockersOf(tx, userId));
  }

  /**
   * Schedules the deletion in `delay` seconds. An already scheduled deletion is returned unchanged. 401 if the caller
   * has been signed out meanwhile.
   */
  request(caller: UserCaller, origin: Origin, delay: number): Promise<AccountDeletion> {
    const actor = actorOf(caller, origin);
    const { userId } = actor;
    return whileSignedIn(this.#use.database, caller, async (tx) => {
      const requestedAt = new Date();
      const dueAt = new Date(requestedAt.getTime() + delay * 1000);
      // The confirmation mail of the request also serves as the reminder.
      const remindedAt = delay > REMINDER_SECONDS ? null : requestedAt;
      const { deletion, isNew } = await schedule(tx, { userId, requestedAt, dueAt, remindedAt });
      if (!isNew) return deletion;
      await note(tx, actor, 'account_deletion_requested');
      const notice = { kind: 'account_deletion_requested', dueAt } as const;
      await this.#use.securityMails.notify(tx, userId, notice, actor);
      return deletion;
    });
  }

  /** False if no deletion was scheduled. */
  cancel(actor: Actor): Promise<boolean> {
    const { userId } = actor;
    return this.#use.database.$transaction(async (tx) => {
      const { count } = await tx.accountDeletion.deleteMany({ where: { userId } });
      if (count > 0) await note(tx, actor, 'account_deletion_canceled');
      return count > 0;
    });
  }

  /**
   * Enqueues reminders for up to `batch` accounts that will be deleted within a day; returns their number.
   */
  remind(batch: number): Promise<number> {
    return this.#use.database.$transaction(async (tx) => {
      const reminded = await tx.$queryRaw<{ userId: string; dueAt: Date }[]>`
        UPDATE identity.account_deletions SET reminded_at = now() WHERE user_id IN (
          SELECT user_id FROM identity.account_deletions
          WHERE reminded_at IS NULL AND due_at > now()
            AND due_at <= now() + make_interval(secs => ${REMINDER_SECONDS}::float8)
          ORDER BY due_at LIMIT ${batch} FOR UPDATE SKIP LOCKED)
        RETURNING user_id AS "userId", due_at AS "dueAt"`;
      for (const { userId, dueAt } of reminded) {
        const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
        const { email: to, locale, firstName, timezone: timeZone } = user;
        if (to === null) continue;
        const data = { firstName, dueAt, timeZone };
        await this.#use.mail.enqueue(tx, { kind: 'account_deletion_reminder', to, locale, data });
      }
      return reminded.length;
    });
  }

  /** Accounts whose deletion is due, at most `batch`, starting after `after`. */
  async due(batch: number, after: AccountDeletion | null): Promise<AccountDeletion[]> {
    const now = new Date();
    return this.#use.database.accountDeletion.findMany({
      where: {
        dueAt: { lte: now },
        ...(after && {
          OR: [
            { dueAt: { gt: after.dueAt } },
            { dueAt: after.dueAt, userId: { gt: after.userId } },
          ],
        }),
      },
      orderBy: [{ dueAt: 'asc' }, { userId: 'asc' }],
      take: batch,
    });
  }

  /**
   * Deletes an account and all personal data, unless the user is the last owner or administrator. Memberships
   * are locked meanwhile. Lock order, as everywhere: the deletion, administrators, tenants, memberships,
   * sessions, the user. `record` runs in the same transaction if the account is deleted.
   */
  async remove(
    userId: string,
    record: (tx: Transaction) => Promise<void> = async () => undefined,
  ): Promise<Outcome> {
    return this.#use.database.$transaction(async (tx) => {
      await tx.$executeRaw`
        SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '10s', true)`;
      const locked = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM identity.account_deletions
        WHERE user_id = ${userId}::uuid AND due_at <= now() FOR UPDATE SKIP LOCKED`;
      if (locked.length === 0) return 'not_due';
      await lockAdministrators(tx);
      const where = { userId };
      const orderBy = { tenantId: 'asc' } as const;
      const memberships = await tx.membership.findMany({ where, orderBy });
      for (const { tenantId } of memberships) await lockPolicyVersion(tx, tenantId);
      const blockers = await blockersOf(tx, userId);
      const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
      if (isBlocked(blockers)) {
        await this.#refuse(tx, user, blockers);
        return 'kept';
      }
      const tenantIds = memberships.map(({ tenantId }) => tenantId);
      await tx.membership.deleteMany({ where: { userId, tenantId: { in: tenantIds } } });
      // Sessions first: a token request holds its session and then needs the user, which the next lock blocks.
      await lockSessions(tx, [userId]);
      await tx.$queryRaw`SELECT 1 FROM identity.users WHERE id = ${userId}::uuid FOR UPDATE`;
      if ((await tx.membership.count({ where })) > 0) throw new JoinedAnotherTenant();
      for (const tenantId of tenantIds) {
        await note(tx, { userId, tenantId, ipAddress: null, userAgent: null }, 'account_deleted');
      }
      const revocations = await removeUser(tx, userId);
      const policyUpdates: NewEvent[] = [];
      for (const tenantId of tenantIds) {
        const version = await bumpPolicyVersion(tx, tenantId);
        const data = { tenant_id: tenantId, version, user_ids: [userId] };
        policyUpdates.push({ type: 'identity.policy.updated', data });
      }
      await this.#notifyDeleted(tx, user);
      await record(tx);
      await enqueue(tx, ...policyUpdates, ...revocations);
      return 'deleted';
    }, TRANSACTION);
  }

  /** Cancels the deletion and notifies the user of the reason. */
  async #refuse(tx: Transaction, user: User, blockers: Blockers): Promise<void> {
    const { id: userId, email: to, locale, firstName, tenantId } = user;
    await tx.accountDeletion.delete({ where: { userId } });
    const actor = { userId, tenantId, ipAddress: null, userAgent: null };
    await note(tx, actor, 'account_deletion_refused');
    if (to === null) return;
    const tenants = blockers.tenants.map(({ name }) => name);
    const data = { firstName, tenants, isLastAdministrator: blockers.isLastAdministrator };
    await this.#use.mail.enqueue(tx, { kind: 'account_deletion_refused', to, locale, data });
  }

  async #notifyDeleted(tx: Transaction, user: User): Promise<void> {
    const { email: to, locale, firstName } = user;
    if (to === null) return;
    await this.#use.mail.enqueue(tx, { kind: 'account_deleted', to, locale, data: { firstName } });
  }
}
