import { type Actor, note } from '../../activity.ts';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { IssueToken } from '../../tokens/issue.ts';
import type { Renewed, RenewToken } from '../../tokens/renew.ts';
import { revoked, revokeUserTokens } from '../../tokens/revoke.ts';
import { lockUser } from '../../users.ts';
import type { DevicesService } from '../devices/devices.service.ts';

/** The database did not say whether it committed. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('The database did not say whether it committed.', { cause });
    this.name = 'CommitInDoubt';
  }
}

interface Switch {
  readonly caller: UserCaller;
  readonly actor: Actor;
  readonly tenantId: string;
  /** Most seconds that the token lives. */
  readonly lifetime: number;
}

export interface Switched {
  readonly token: string;
  /** Seconds that the token lives. */
  readonly expiresIn: number;
}

interface Dependencies {
  readonly database: Database;
  readonly renewToken: RenewToken;
  readonly issueToken: IssueToken;
  readonly devices: Pick<DevicesService, 'endTrust'>;
}

export class SessionsRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Renews a token, and tells that the old one is gone. Throws `CommitInDoubt` where the new one may have
   * been recorded: the same `successorId` again finds out.
   */
  async renew(
    { id: userId, tokenId }: UserCaller,
    successorId: string,
  ): Promise<Renewed | 'reused' | 'gone'> {
    let isCommitting = false;
    try {
      return await this.#use.database.$transaction(async (tx) => {
        const renewed = await this.#use.renewToken(tx, { tokenId, successorId });
        if (typeof renewed === 'string') return renewed;
        await enqueue(tx, revoked({ token_id: tokenId, user_id: userId, reason: 'rotated' }));
        isCommitting = true;
        return renewed;
      });
    } catch (error) {
      throw isCommitting ? new CommitInDoubt(error) : error;
    }
  }

  /**
   * Revokes all that a user has, because a token of this session came back that had been replaced. A token
   * of a session that has ended says nothing new: with it nobody is signed out again and again.
   */
  async endReusedChain(actor: Actor, sessionId: string): Promise<void> {
    const { userId } = actor;
    await this.#use.database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const isAlive = await tx.session.count({
        where: { id: sessionId, endedAt: null, expiresAt: { gt: new Date() } },
      });
      if (isAlive === 0) return;
      const gone = await revokeUserTokens(tx, { userId }, 'token_reused');
      await note(tx, actor, 'token_reused');
      await enqueue(tx, gone);
    });
  }

  /** Ends every session and revokes every token of a user; no device is trusted any more. */
  async endAll(actor: Actor): Promise<void> {
    const { userId } = actor;
    await this.#use.database.$transaction(async (tx) => {
      const gone = await revokeUserTokens(tx, { userId }, 'logout_all');
      await this.#use.devices.endTrust(tx, userId);
      await note(tx, actor, 'logout_all');
      await enqueue(tx, gone);
    });
  }

  /** Whether there is such a tenant, whoever asks. */
  async isTenant(id: string): Promise<boolean> {
    return (await this.#use.database.tenant.count({ where: { id } })) > 0;
  }

  /**
   * Exchanges a token for one of another tenant in the same session; the next sign-in starts there too.
   * `left` where the user is no member, `gone` where the token or its session is no longer good.
   */
  switchTenant({ caller, actor, tenantId, lifetime }: Switch): Promise<Switched | 'left' | 'gone'> {
    const { id: userId, tokenId, sessionId, clientId } = caller;
    return this.#use.database.$transaction(async (tx) => {
      // Held, and before the user: who ends the membership waits, and then finds the new token.
      const memberships = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM identity.memberships
        WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid FOR KEY SHARE`;
      if (memberships.length === 0) return 'left';
      await lockUser(tx, userId);
      const [session] = await tx.$queryRaw<{ seconds: number }[]>`
        SELECT floor(extract(epoch FROM expires_at - now()))::int AS seconds FROM identity.sessions
        WHERE id = ${sessionId}::uuid AND ended_at IS NULL AND expires_at > now()
        FOR NO KEY UPDATE`;
      if (!session) return 'gone';
      const [old] = await tx.token.updateManyAndReturn({
        where: { id: tokenId, revokedAt: null },
        data: { revokedAt: new Date() },
        select: { grantId: true },
      });
      if (!old) return 'gone';
      const expiresIn = Math.min(lifetime, session.seconds);
      const token = await this.#use.issueToken(tx, {
        ...{ userId, tenantId, sessionId, clientId, use: 'switch' },
        ...{ name: `tenant-switch:${tenantId}`, grantId: old.grantId },
        lifetime: expiresIn,
      });
      await tx.user.update({ where: { id: userId }, data: { tenantId } });
      await note(tx, actor, 'tenant_switched');
      const reason = 'tenant_switched';
      await enqueue(tx, revoked({ token_id: tokenId, user_id: userId, reason }));
      return { token, expiresIn };
    });
  }
}
