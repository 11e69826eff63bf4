import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import type { Pin } from '../../generated/prisma/client.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { UNLOCKED } from '../../security/lockout.ts';
import { endSessions } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';

/** The PIN of a user, as far as it is stored. */
export type StoredPin = Pick<Pin, 'hash' | 'createdAt' | 'lockedUntil'>;

export class PinRepository {
  readonly #database: Database;
  readonly #mails: SecurityMails;

  constructor(database: Database, mails: SecurityMails) {
    this.#database = database;
    this.#mails = mails;
  }

  find(userId: string): Promise<StoredPin | null> {
    return this.#database.pin.findUnique({ where: { userId } });
  }

  /** False where the user has one already. */
  set(actor: Actor, hash: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const { count } = await tx.pin.createMany({ data: { userId, hash }, skipDuplicates: true });
      if (count === 0) return false;
      await note(tx, actor, 'pin_set');
      await this.#mails.tell(tx, userId, { kind: 'factor_added', factor: 'pin' }, actor);
      return true;
    });
  }

  /** Puts another PIN in the place of the one with the hash `old`; false where that has gone meanwhile. */
  replace(actor: Actor, old: string, hash: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const { count } = await tx.pin.updateMany({
        where: { userId, hash: old },
        data: { hash, createdAt: new Date(), ...UNLOCKED },
      });
      if (count === 0) return false;
      await note(tx, actor, 'pin_changed');
      await this.#mails.tell(tx, userId, { kind: 'pin_changed' }, actor);
      return true;
    });
  }

  /** The right PIN was given: the session with all its tokens is open, and nothing counts as wrong. */
  async unlock(userId: string, sessionId: string | null): Promise<void> {
    await this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      await tx.pin.updateMany({ where: { userId }, data: UNLOCKED });
      if (sessionId === null) return;
      await tx.session.updateMany({
        where: { id: sessionId, userId, pinPending: true },
        data: { pinPending: false, amr: { push: 'pin' } },
      });
    });
  }

  /**
   * Removes the PIN and ends the sessions that wait for it: they never proved to know it, and could not do so
   * any more. False where there is none.
   */
  remove(actor: Actor): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const { count } = await tx.pin.deleteMany({ where: { userId } });
      if (count === 0) return false;
      const waiting = await tx.session.findMany({
        where: { userId, pinPending: true, endedAt: null },
        select: { id: true },
      });
      const sessionIds = waiting.map(({ id }) => id);
      const news = await endSessions(tx, { sessionIds, userId }, 'factor_removed');
      await note(tx, actor, 'pin_disabled');
      await this.#mails.tell(tx, userId, { kind: 'factor_removed', factor: 'pin' }, actor);
      if (news.length > 0) await enqueue(tx, ...news);
      return true;
    });
  }

  async noteFailure(actor: Actor): Promise<void> {
    await note(this.#database, actor, 'pin_failed');
  }
}
