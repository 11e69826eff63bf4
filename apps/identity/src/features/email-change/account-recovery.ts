import type { Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import { issueOneTimeToken } from '../../tokens/one-time.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import type { DevicesService } from '../devices/devices.service.ts';

interface Dependencies {
  readonly devices: Pick<DevicesService, 'endTrust'>;
  /** Lifetime of the password reset link in seconds. */
  readonly resetLifetime: number;
}

/** How a recovered account goes on. */
export interface Recovery {
  /** The token of a password reset; without it, nobody can sign in. */
  readonly resetToken: string;
  /** For `enqueue` in the same transaction. */
  readonly revocation: NewEvent;
}

/** Restores an account to the owner of its old email address after an unwanted change. */
export class AccountRecovery {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Ends all sessions, trust in devices and the password, and removes second factors, recovery codes, a PIN
   * and an account deletion set up since the change of the address was requested.
   */
  async recover(tx: Transaction, user: User, email: string, since: Date): Promise<Recovery> {
    const { id: userId, passwordHash: hash } = user;
    const revocation = await revokeUserTokens(tx, { userId }, 'address_restored');
    await this.#use.devices.endTrust(tx, userId);
    await tx.user.update({ where: { id: userId }, data: { passwordHash: null } });
    if (hash !== null) await tx.previousPassword.create({ data: { userId, hash } });
    const { count } = await tx.twoFactor.deleteMany({
      where: { userId, confirmedAt: { gte: since } },
    });
    // Codes stand in for the second factor that they belong to; newer ones are known to whoever replaced the owner's.
    const codes = count > 0 ? { userId } : { userId, createdAt: { gte: since } };
    await tx.recoveryCode.deleteMany({ where: codes });
    await tx.pin.deleteMany({ where: { userId, createdAt: { gte: since } } });
    await tx.accountDeletion.deleteMany({ where: { userId, requestedAt: { gte: since } } });
    const reset = { purpose: 'password_reset', lifetime: this.#use.resetLifetime } as const;
    const resetToken = await issueOneTimeToken(tx, { ...reset, userId, email });
    return { resetToken, revocation };
  }
}
