import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import { enqueue, type News } from '../../outbox/outbox.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { IssueToken } from '../../tokens/issue.ts';
import { moveGrant } from '../../tokens/move-grant.ts';
import { lockOrigin, type TokenOrigin } from '../../tokens/origin.ts';
import type { Renewed, RenewToken } from '../../tokens/renew.ts';
import { revoked, revokeGrant, revokeToken, revokeUserTokens } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
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
  /** Most seconds that the token lives, by the flow that the presented one comes from. */
  readonly lifetimes: { readonly signIn: number; readonly code: number };
}

export interface Switched {
  readonly token: string;
  /** With a token of the code flow: renews the new one at `POST /oauth/token`. */
  readonly refreshToken: string | null;
  /** Seconds that the token lives. */
  readonly expiresIn: number;
}

/** A chain that was left for another tenant. */
interface Left {
  /** The grant that goes on; null for the chain of a sign-in. */
  readonly grantId: string | null;
  readonly refreshToken: string | null;
  readonly news: readonly News[];
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
   * The chain of the presented token ends. `left` where the user is no member, `gone` where the token or
   * its session is no longer good.
   */
  switchTenant({
    caller,
    actor,
    tenantId,
    lifetimes,
  }: Switch): Promise<Switched | 'left' | 'gone'> {
    const { id: userId, clientId } = caller;
    return this.#use.database.$transaction(async (tx) => {
      // Held, and before the user: who ends the membership waits, and then finds the new token.
      const memberships = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM identity.memberships
        WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid FOR KEY SHARE`;
      if (memberships.length === 0) return 'left';
      await lockUser(tx, userId);
      const from = await lockOrigin(tx, caller);
      if (!from) return 'gone';
      const name = `tenant-switch:${tenantId}`;
      const moved = await this.#leave(tx, caller, from, { tenantId, name });
      if (!moved) return 'gone';
      const { grantId, refreshToken, news } = moved;
      const isCodeFlow = grantId !== null;
      const lifetime = isCodeFlow ? lifetimes.code : lifetimes.signIn;
      const expiresIn = Math.min(lifetime, from.secondsLeft);
      const token = await this.#use.issueToken(tx, {
        userId,
        tenantId,
        sessionId: from.sessionId,
        clientId,
        use: isCodeFlow ? 'code' : 'switch',
        name,
        grantId,
        scopes: from.scopes,
        lifetime: expiresIn,
      });
      await tx.user.update({ where: { id: userId }, data: { tenantId } });
      await note(tx, actor, 'tenant_switched');
      await enqueue(tx, ...news);
      return { token, refreshToken, expiresIn };
    });
  }

  /**
   * Ends the chain of a token: that of a sign-in is the token alone, that of the code flow its grant, which
   * goes on in the other tenant. Undefined where the grant has ended.
   */
  async #leave(
    tx: Transaction,
    { id: userId, tokenId }: UserCaller,
    { grantId }: TokenOrigin,
    to: { readonly tenantId: string; readonly name: string },
  ): Promise<Left | undefined> {
    const reason = 'tenant_switched';
    if (grantId === null) {
      const news = [await revokeToken(tx, { tokenId, userId }, reason)];
      return { grantId, refreshToken: null, news };
    }
    const moved = await moveGrant(tx, grantId, to);
    return moved && { ...moved, news: await revokeGrant(tx, grantId, reason) };
  }
}
