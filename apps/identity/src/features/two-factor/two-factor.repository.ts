import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { TwoFactor } from '../../generated/prisma/client.ts';
import { RECOVERY_UNLOCKED, UNLOCKED } from '../../security/lockout.ts';
import { digest } from '../../security/secrets.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { whileSignedIn } from '../../tokens/origin.ts';
import { lockUser } from '../../users/users.ts';
import { normalizedCode } from './codes.ts';

/** What a correct code of either kind writes. */
const BOTH_UNLOCKED = { ...UNLOCKED, ...RECOVERY_UNLOCKED } as const;

const hashOf = (code: string) => digest(normalizedCode(code));

export class TwoFactorRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(userId: string, tx: Transaction = this.#database): Promise<TwoFactor | null> {
    return tx.twoFactor.findUnique({ where: { userId } });
  }

  /** Number of unused recovery codes. */
  codesLeft(userId: string): Promise<number> {
    return this.#database.recoveryCode.count({ where: { userId, usedAt: null } });
  }

  /** Whether all of these are recovery codes of the user, used or not. */
  async hasCodes(userId: string, codes: readonly string[]): Promise<boolean> {
    const codeHash = { in: codes.map(hashOf) };
    return (
      (await this.#database.recoveryCode.count({ where: { userId, codeHash } })) === codes.length
    );
  }

  /** Runs `work` with the user locked, which serializes changes of the second factor. */
  change<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      return work(tx);
    });
  }

  /** As `change`, by a caller who is signed in; see `whileSignedIn`. */
  changeAs<T>(caller: UserCaller, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return whileSignedIn(this.#database, caller, work);
  }

  /** Stores a new unconfirmed secret, replacing a previous unconfirmed one. */
  async begin(tx: Transaction, userId: string, sealedSecret: Uint8Array<ArrayBuffer>) {
    await tx.twoFactor.deleteMany({ where: { userId, confirmedAt: null } });
    await tx.twoFactor.create({ data: { userId, sealedSecret } });
  }

  async confirm(tx: Transaction, userId: string, lastStep: bigint): Promise<void> {
    const data = { confirmedAt: new Date(), lastStep, ...BOTH_UNLOCKED };
    await tx.twoFactor.update({ where: { userId }, data });
  }

  async remove(tx: Transaction, userId: string): Promise<void> {
    await tx.twoFactor.deleteMany({ where: { userId } });
    await tx.recoveryCode.deleteMany({ where: { userId } });
  }

  /** Replaces all recovery codes. */
  async replaceCodes(tx: Transaction, userId: string, codes: readonly string[]): Promise<void> {
    await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.recoveryCode.createMany({
      data: codes.map((code) => ({ userId, codeHash: hashOf(code) })),
    });
  }

  /** Marks a time step and all earlier ones as used; false if it was already used. */
  async useStep(tx: Transaction, userId: string, step: bigint): Promise<boolean> {
    const { count } = await tx.twoFactor.updateMany({
      where: { userId, OR: [{ lastStep: null }, { lastStep: { lt: step } }] },
      data: { lastStep: step, ...BOTH_UNLOCKED },
    });
    return count === 1;
  }

  /** Uses a recovery code and returns the number of remaining ones; null if the code is invalid. */
  async useCode(tx: Transaction, userId: string, code: string): Promise<number | null> {
    const { count } = await tx.recoveryCode.updateMany({
      where: { userId, codeHash: hashOf(code), usedAt: null },
      data: { usedAt: new Date() },
    });
    if (count === 0) return null;
    await tx.twoFactor.update({ where: { userId }, data: BOTH_UNLOCKED });
    return tx.recoveryCode.count({ where: { userId, usedAt: null } });
  }

  /** Records the second factor in the session (RFC 8176), which makes its authentication recent. */
  async stepUp(tx: Transaction, sessionId: string): Promise<void> {
    await tx.session.updateMany({
      where: { id: sessionId },
      data: { authenticatedAt: new Date() },
    });
    await tx.session.updateMany({
      where: { id: sessionId, NOT: { amr: { has: 'otp' } } },
      data: { amr: { push: 'otp' } },
    });
  }

  async noteFailure(actor: Actor): Promise<void> {
    await note(this.#database, actor, 'two_factor_failed');
  }
}
