import type { Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { issueOneTimeToken } from '../../tokens/one-time.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import type { DevicesService } from '../devices/devices.service.ts';

interface Dependencies {
  readonly devices: Pick<DevicesService, 'endTrust'>;
  /** Lifetime of the password reset link in seconds. */
  readonly resetLifetime: number;
}

/** Restores an account to the owner of its old email address after an unwanted change. */
export class AccountRecovery {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Ends all sessions, trust in devices and the password, and removes second factors, a PIN and an account
   * deletion set up since the change of the address was requested. Returns a password reset token; without it,
   * nobody can sign in.
   */
  async recover(tx: Transaction, user: User, email: string, since: Date): Promise<string> {
    const { id: userId, passwordHash: hash } = user;
    const revocation = await revokeUserTokens(tx, { userId }, 'address_restored');
    await this.#use.devices.endTrust(tx, userId);
    await tx.user.update({ where: { id: userId }, data: { passwordHash: null } });
    if (hash !== null) await tx.previousPassword.create({ data: { userId, hash } });
    const { count } = await tx.twoFactor.deleteMany({
      where: { userId, confirmedAt: { gte: since } },
    });
    if (count > 0) await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.pin.deleteMany({ where: { userId, createdAt: { gte: since } } });
    await tx.accountDeletion.deleteMany({ where: { userId, requestedAt: { gte: since } } });
    await enqueue(tx, revocation);
    const lifetime = this.#use.resetLifetime;
    return issueOneTimeToken(tx, { purpose: 'password_reset', userId, email, lifetime });
  }
}
