import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import { enqueue, type NewEvent } from '../../outbox/outbox.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { IssueToken } from '../../tokens/issue.ts';
import { moveGrant } from '../../tokens/move-grant.ts';
import { lockOrigin, type TokenOrigin } from '../../tokens/origin.ts';
import type { Renewed, RenewToken } from '../../tokens/renew.ts';
import {
  revokeToken,
  revokeTokensOfGrant,
  revokeUserTokens,
  tokenRevokedEvent,
} from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import type { DevicesService } from '../devices/devices.service.ts';

/** The connection broke during the commit, so its outcome is unknown. */
export class CommitOutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('The outcome of the commit is unknown.', { cause });
    this.name = 'CommitOutcomeUnknown';
  }
}

interface TenantSwitch {
  readonly caller: UserCaller;
  readonly actor: Actor;
  readonly tenantId: string;
  /** Maximum token lifetime in seconds, by the flow of the presented token. */
  readonly lifetimes: { readonly signIn: number; readonly code: number };
}

export interface Switched {
  readonly token: string;
  /** For tokens of the code flow that are not narrowed: the refresh token for `POST /oauth/token`. */
  readonly refreshToken: string | null;
  /** Lifetime of the token in seconds. */
  readonly expiresIn: number;
}

/** What the switch of a token ended and moved. */
interface Moved {
  /** The refresh token of a grant that moved. */
  readonly refreshToken: string | null;
  readonly revocations: readonly NewEvent[];
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
   * Renews a token and publishes the revocation of the old one. Throws `CommitOutcomeUnknown` if the new one
   * may have been stored; calling again with the same `successorId` finds out.
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
        await enqueue(
          tx,
          tokenRevokedEvent({ token_id: tokenId, user_id: userId, reason: 'rotated' }),
        );
        isCommitting = true;
        return renewed;
      });
    } catch (error) {
      throw isCommitting ? new CommitOutcomeUnknown(error) : error;
    }
  }

  /**
   * Revokes all tokens of a user because a replaced token of this session was presented again. No effect if the
   * session has ended, so that an old token cannot sign the user out repeatedly.
   */
  async endReusedChain(actor: Actor, sessionId: string): Promise<void> {
    const { userId } = actor;
    await this.#use.database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const isAlive = await tx.session.count({
        where: { id: sessionId, endedAt: null, expiresAt: { gt: new Date() } },
      });
      if (isAlive === 0) return;
      const revocation = await revokeUserTokens(tx, { userId }, 'token_reused');
      await note(tx, actor, 'token_reused');
      await enqueue(tx, revocation);
    });
  }

  /** Ends all sessions and revokes all tokens and trusted devices of a user. */
  async endAll(actor: Actor): Promise<void> {
    const { userId } = actor;
    await this.#use.database.$transaction(async (tx) => {
      const revocation = await revokeUserTokens(tx, { userId }, 'logout_all');
      await this.#use.devices.endTrust(tx, userId);
      await note(tx, actor, 'logout_all');
      await enqueue(tx, revocation);
    });
  }

  /** Whether the tenant exists, regardless of the caller. */
  async isTenant(id: string): Promise<boolean> {
    return (await this.#use.database.tenant.count({ where: { id } })) > 0;
  }

  /**
   * Exchanges a token for one of another tenant with the same scopes in the same session; the next sign-in starts there
   * too. The token chain of the presented token ends, unless that is narrowed: then only the token itself does.
   * `left` if the user is not a member, `gone` if the token or its session is no longer valid.
   */
  switchTenant({
    caller,
    actor,
    tenantId,
    lifetimes,
  }: TenantSwitch): Promise<Switched | 'left' | 'gone'> {
    const { id: userId, clientId, tokenUse } = caller;
    return this.#use.database.$transaction(async (tx) => {
      // Locked before the user: a removal of the membership waits and then finds the new token.
      const memberships = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM identity.memberships
        WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid FOR KEY SHARE`;
      if (memberships.length === 0) return 'left';
      await lockUser(tx, userId);
      const from = await lockOrigin(tx, caller);
      if (!from) return 'gone';
      const name = `tenant-switch:${tenantId}`;
      const moved = await this.#move(tx, caller, from, { tenantId, name });
      if (!moved) return 'gone';
      const { refreshToken, revocations } = moved;
      const isCodeFlow = tokenUse === 'code';
      const lifetime = isCodeFlow ? lifetimes.code : lifetimes.signIn;
      const expiresIn = Math.min(lifetime, from.secondsLeft);
      const token = await this.#use.issueToken(tx, {
        userId,
        tenantId,
        sessionId: from.sessionId,
        clientId,
        use: isCodeFlow ? 'code' : 'switch',
        name,
        grantId: from.grantId,
        scopes: from.scopes,
        isNarrowed: from.isNarrowed,
        lifetime: expiresIn,
      });
      await tx.user.update({ where: { id: userId }, data: { tenantId } });
      await note(tx, actor, 'tenant_switched');
      await enqueue(tx, ...revocations);
      return { token, refreshToken, expiresIn };
    });
  }

  /**
   * Ends the chain of a token. The chain of a sign-in is the token alone; in the code flow it is the grant, which
   * continues in the other tenant. A narrowed token leads to no more than it is: it ends alone, and the grant stays
   * with the client that holds the refresh token. Undefined if the grant has ended.
   */
  async #move(
    tx: Transaction,
    { id: userId, tokenId }: UserCaller,
    { grantId, isNarrowed }: TokenOrigin,
    to: { readonly tenantId: string; readonly name: string },
  ): Promise<Moved | undefined> {
    const reason = 'tenant_switched';
    if (grantId === null || isNarrowed) {
      const revocations = [await revokeToken(tx, { tokenId, userId }, reason)];
      return { refreshToken: null, revocations };
    }
    const refreshToken = await moveGrant(tx, grantId, to);
    if (refreshToken === undefined) return undefined;
    return { refreshToken, revocations: await revokeTokensOfGrant(tx, grantId, reason) };
  }
}
