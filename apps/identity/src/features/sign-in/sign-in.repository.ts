import type { Database } from '../../database.ts';
import type { Origin } from '../../origin.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { digest } from '../../secrets.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { IssueToken } from '../../tokens/issue.ts';
import { endSession, revokeToken } from '../../tokens/revoke.ts';

export interface Account {
  readonly id: string;
  readonly email: string | null;
  readonly firstName: string;
  readonly lastName: string;
  readonly passwordHash: string | null;
  readonly isActive: boolean;
  /** Where the next sign-in starts. */
  readonly tenantId: string | null;
}

export interface NewSession {
  /** As the password was checked. */
  readonly account: Account;
  /** The same password, hashed with more work. */
  readonly newHash: string | null;
  readonly secret: string;
  /** In seconds. */
  readonly lifetime: number;
  readonly tokenLifetime: number;
  readonly origin: Origin;
}

/** Who signs in without a client of their own: the frontends of this very service. */
const FIRST_PARTY = 'first-party';

export class SignInRepository {
  readonly #database: Database;
  readonly #issueToken: IssueToken;

  constructor(database: Database, issueToken: IssueToken) {
    this.#database = database;
    this.#issueToken = issueToken;
  }

  /** The account with this address, and its default tenant: the last one, or the first that it joined. */
  async account(email: string): Promise<Account | null> {
    const found = await this.#database.user.findUnique({
      where: { email },
      include: { memberships: { select: { tenantId: true }, orderBy: { createdAt: 'asc' } } },
    });
    if (!found) return null;
    const tenants = found.memberships.map(({ tenantId }) => tenantId);
    const isMember = found.tenantId !== null && tenants.includes(found.tenantId);
    return { ...found, tenantId: isMember ? found.tenantId : (tenants[0] ?? null) };
  }

  /** Opens a session with its first token; null when the account was changed since it was read. */
  openSession(session: NewSession): Promise<string | null> {
    const { account, newHash, secret, lifetime, tokenLifetime, origin } = session;
    const { id: userId, tenantId, passwordHash } = account;
    return this.#database.$transaction(async (tx) => {
      const now = new Date();
      // Locks the row: whoever changes the password ends the sessions before it, and finds this one.
      const { count } = await tx.user.updateMany({
        where: { id: userId, passwordHash, isActive: true },
        data: { lastLoginAt: now, ...(newHash && { passwordHash: newHash }) },
      });
      if (count === 0) return null;
      const { id: sessionId } = await tx.session.create({
        data: {
          userId,
          secretHash: new Uint8Array(digest(secret)),
          expiresAt: new Date(+now + lifetime * 1000),
          ...origin,
        },
      });
      await tx.activityEntry.create({ data: { userId, tenantId, action: 'login', ...origin } });
      return this.#issueToken(tx, {
        ...{ userId, tenantId, sessionId, clientId: FIRST_PARTY, use: 'login' },
        lifetime: tokenLifetime,
      });
    });
  }

  /** Ends the session of a token, or the token alone where it has none. */
  async endSession(caller: UserCaller, origin: Origin): Promise<void> {
    const { id: userId, tokenId, sessionId, tenant } = caller;
    await this.#database.$transaction(async (tx) => {
      const gone = sessionId
        ? await endSession(tx, { sessionId, userId }, 'logout')
        : await revokeToken(tx, { tokenId, userId }, 'logout');
      await tx.activityEntry.create({
        data: { userId, tenantId: tenant?.id ?? null, action: 'logout', ...origin },
      });
      await enqueue(tx, gone);
    });
  }

  async recordFailure({ id: userId, tenantId }: Account, origin: Origin): Promise<void> {
    await this.#database.activityEntry.create({
      data: { userId, tenantId, action: 'login_failed', ...origin },
    });
  }
}
