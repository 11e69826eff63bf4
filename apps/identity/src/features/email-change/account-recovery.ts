import type { Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { issueOneTimeToken } from '../../tokens/one-time.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import type { DevicesService } from '../devices/devices.service.ts';

interface Dependencies {
  readonly devices: Pick<DevicesService, 'endTrust'>;
  /** Seconds that the link of a password reset is good for. */
  readonly resetLifetime: number;
}

/** Gives an account back to the person who reads the mail of its old address, whoever changed that. */
export class AccountRecovery {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Ends every session, the trust in devices, the password, and what was set up or asked for since the address
   * was changed: factors, and the deletion of the account. Gives the token of a password reset: without one, nobody signs in.
   */
  async recover(tx: Transaction, user: User, email: string, since: Date): Promise<string> {
    const { id: userId, passwordHash: hash } = user;
    const gone = await revokeUserTokens(tx, { userId }, 'address_restored');
    await this.#use.devices.endTrust(tx, userId);
    await tx.user.update({ where: { id: userId }, data: { passwordHash: null } });
    if (hash !== null) await tx.previousPassword.create({ data: { userId, hash } });
    const { count } = await tx.twoFactor.deleteMany({
      where: { userId, confirmedAt: { gte: since } },
    });
    if (count > 0) await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.pin.deleteMany({ where: { userId, createdAt: { gte: since } } });
    await tx.accountDeletion.deleteMany({ where: { userId, requestedAt: { gte: since } } });
    await enqueue(tx, gone);
    const lifetime = this.#use.resetLifetime;
    return issueOneTimeToken(tx, { purpose: 'password_reset', userId, email, lifetime });
  }
}
