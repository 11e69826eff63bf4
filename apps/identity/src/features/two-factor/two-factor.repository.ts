import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { TwoFactor } from '../../generated/prisma/client.ts';
import { UNLOCKED } from '../../security/lockout.ts';
import { digest } from '../../security/secrets.ts';
import { lockUser } from '../../users/users.ts';
import { bareCode } from './codes.ts';

const hashOf = (code: string) => new Uint8Array(digest(bareCode(code)));

export class TwoFactorRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(userId: string, tx: Transaction = this.#database): Promise<TwoFactor | null> {
    return tx.twoFactor.findUnique({ where: { userId } });
  }

  /** How many recovery codes are left. */
  codesLeft(userId: string): Promise<number> {
    return this.#database.recoveryCode.count({ where: { userId, usedAt: null } });
  }

  /** Runs with the user locked: what changes the second factor comes one after the other. */
  change<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      return work(tx);
    });
  }

  /** Keeps a new secret that counts once it is confirmed, in the place of one that never was. */
  async begin(tx: Transaction, userId: string, sealedSecret: Uint8Array<ArrayBuffer>) {
    await tx.twoFactor.deleteMany({ where: { userId, confirmedAt: null } });
    await tx.twoFactor.create({ data: { userId, sealedSecret } });
  }

  async confirm(tx: Transaction, userId: string, lastStep: bigint): Promise<void> {
    const data = { confirmedAt: new Date(), lastStep, ...UNLOCKED };
    await tx.twoFactor.update({ where: { userId }, data });
  }

  async remove(tx: Transaction, userId: string): Promise<void> {
    await tx.twoFactor.deleteMany({ where: { userId } });
    await tx.recoveryCode.deleteMany({ where: { userId } });
  }

  /** In the place of all that there were. */
  async replaceCodes(tx: Transaction, userId: string, codes: readonly string[]): Promise<void> {
    await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.recoveryCode.createMany({
      data: codes.map((code) => ({ userId, codeHash: hashOf(code) })),
    });
  }

  /** Spends a time step and those before it; false where it is spent. */
  async spendStep(tx: Transaction, userId: string, step: bigint): Promise<boolean> {
    const { count } = await tx.twoFactor.updateMany({
      where: { userId, OR: [{ lastStep: null }, { lastStep: { lt: step } }] },
      data: { lastStep: step, ...UNLOCKED },
    });
    return count === 1;
  }

  /** Spends a recovery code and gives how many are left; null where there is none like it. */
  async spendCode(tx: Transaction, userId: string, code: string): Promise<number | null> {
    const { count } = await tx.recoveryCode.updateMany({
      where: { userId, codeHash: hashOf(code), usedAt: null },
      data: { usedAt: new Date() },
    });
    if (count === 0) return null;
    await tx.twoFactor.update({ where: { userId }, data: UNLOCKED });
    return tx.recoveryCode.count({ where: { userId, usedAt: null } });
  }

  /** Notes in the session that the second factor was given (RFC 8176): its authentication is recent. */
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
