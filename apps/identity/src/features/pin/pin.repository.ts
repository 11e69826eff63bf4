import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import type { Pin } from '../../generated/prisma/client.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { UNLOCKED } from '../../security/lockout.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { whileSignedIn } from '../../tokens/origin.ts';
import { endSessions } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import { requireUnchanged, type VerifiedPassword } from '../sign-in/password-confirmation.ts';
import type { SealedHash, StoredHash } from './pin-hash.ts';

/** Who changes a PIN. Their session and token must still be valid when the change commits: 401. */
interface Author {
  readonly caller: UserCaller;
  readonly actor: Actor;
}

/** A user's PIN as it is stored. `createdAt` and `hash` change when it is replaced, but not when it is resealed. */
export type StoredPin = StoredHash & Pick<Pin, 'createdAt' | 'lockedUntil'>;

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

  /** False if the user already has a PIN. */
  set(author: Author, sealed: SealedHash): Promise<boolean> {
    const { actor } = author;
    const { userId } = actor;
    return whileSignedIn(this.#database, author.caller, async (tx) => {
      const data = { userId, ...sealed };
      const { count } = await tx.pin.createMany({ data, skipDuplicates: true });
      if (count === 0) return false;
      await note(tx, actor, 'pin_set');
      await this.#mails.notify(tx, userId, { kind: 'factor_added', factor: 'pin' }, actor);
      return true;
    });
  }

  /** Replaces the PIN `old`; false if that has changed meanwhile. */
  replace(author: Author, old: StoredPin, sealed: SealedHash): Promise<boolean> {
    const { actor } = author;
    const { userId } = actor;
    return whileSignedIn(this.#database, author.caller, async (tx) => {
      const { count } = await tx.pin.updateMany({
        where: { userId, createdAt: old.createdAt, hash: old.hash },
        data: { ...sealed, createdAt: new Date(), ...UNLOCKED },
      });
      if (count === 0) return false;
      await note(tx, actor, 'pin_changed');
      await this.#mails.notify(tx, userId, { kind: 'pin_changed' }, actor);
      return true;
    });
  }

  /**
   * Unlocks the session and its tokens, and resets the count of wrong PINs. False if the PIN is no longer the one
   * that was verified.
   */
  unlock(
    userId: string,
    sessionId: string | null,
    { createdAt, hash }: StoredPin,
  ): Promise<boolean> {
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const { count } = await tx.pin.updateMany({
        where: { userId, createdAt, hash },
        data: UNLOCKED,
      });
      if (count === 0) return false;
      if (sessionId === null) return true;
      await tx.session.updateMany({
        where: { id: sessionId, userId, pinPending: true },
        data: { pinPending: false, amr: { push: 'pin' } },
      });
      return true;
    });
  }

  /**
   * Removes the PIN and ends the locked sessions, which could not be unlocked any more. False if there is no
   * PIN.
   */
  remove(author: Author, verified: VerifiedPassword): Promise<boolean> {
    const { actor } = author;
    const { userId } = actor;
    return whileSignedIn(this.#database, author.caller, async (tx) => {
      await requireUnchanged(tx, verified);
      const { count } = await tx.pin.deleteMany({ where: { userId } });
      if (count === 0) return false;
      const locked = await tx.session.findMany({
        where: { userId, pinPending: true, endedAt: null },
        select: { id: true },
      });
      const sessionIds = locked.map(({ id }) => id);
      const revocations = await endSessions(tx, { sessionIds, userId }, 'factor_removed');
      await note(tx, actor, 'pin_disabled');
      await this.#mails.notify(tx, userId, { kind: 'factor_removed', factor: 'pin' }, actor);
      if (revocations.length > 0) await enqueue(tx, ...revocations);
      return true;
    });
  }

  async noteFailure(actor: Actor): Promise<void> {
    await note(this.#database, actor, 'pin_failed');
  }
}
