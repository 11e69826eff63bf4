import { note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { IssueToken } from '../../tokens/issue.ts';
import { lockOrigin } from '../../tokens/origin.ts';

export interface Impersonation {
  readonly caller: UserCaller;
  readonly userId: string;
  readonly reason: string;
  /** Maximum lifetime of the token in seconds. */
  readonly lifetime: number;
  readonly origin: Origin;
}

export class ImpersonationRepository {
  readonly #database: Database;
  readonly #issueToken: IssueToken;

  constructor(database: Database, issueToken: IssueToken) {
    this.#database = database;
    this.#issueToken = issueToken;
  }

  /**
   * Issues an impersonation token after `authorize` has checked the current state of both users, and records an
   * activity entry for each. The token has the client, session and grant of the caller's token and ends with
   * them; `gone` if those have ended.
   */
  start(
    { caller, userId, reason, lifetime, origin }: Impersonation,
    authorize: (administrator: User | null, user: User | null) => User,
  ): Promise<{ token: string; expiresIn: number; user: User } | 'gone'> {
    return this.#database.$transaction(async (tx) => {
      const tenantId = await this.#initialTenant(tx, userId);
      await tx.$queryRaw`SELECT 1 FROM identity.users
        WHERE id IN (${caller.id}::uuid, ${userId}::uuid) ORDER BY id FOR NO KEY UPDATE`;
      const find = (id: string) => tx.user.findUnique({ where: { id } });
      const user = authorize(await find(caller.id), await find(userId));
      const from = await lockOrigin(tx, caller);
      if (!from) return 'gone';
      const expiresIn = Math.min(lifetime, from.secondsLeft);
      const token = await this.#issueToken(tx, {
        userId,
        tenantId,
        sessionId: from.sessionId,
        clientId: caller.clientId,
        grantId: from.grantId,
        scopes: from.scopes,
        isNarrowed: from.isNarrowed,
        use: 'impersonation',
        impersonatorId: caller.id,
        lifetime: expiresIn,
      });
      const own = { userId: caller.id, tenantId: caller.tenant?.id ?? null, ...origin };
      await note(tx, own, 'impersonation_started', { subjectId: userId, reason });
      const impersonated = { userId, tenantId, impersonatorId: caller.id, ...origin };
      await note(tx, impersonated, 'impersonated', { reason });
      return { token, expiresIn, user };
    });
  }

  /**
   * The tenant in which the user's sign-ins start. The membership is locked before the user: a removal waits
   * and then finds the new token.
   */
  async #initialTenant(tx: Transaction, userId: string): Promise<string | null> {
    const [membership] = await tx.$queryRaw<{ tenantId: string }[]>`
      SELECT m.tenant_id AS "tenantId" FROM identity.memberships m
      JOIN identity.users u ON u.id = m.user_id WHERE m.user_id = ${userId}::uuid
      ORDER BY m.tenant_id IS NOT DISTINCT FROM u.tenant_id DESC, m.created_at LIMIT 1
      FOR KEY SHARE OF m`;
    return membership?.tenantId ?? null;
  }
}
