import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue, type NewEvent } from '../../outbox/outbox.ts';
import { digest, newSecret } from '../../security/secrets.ts';
import { FIRST_PARTY } from '../../tokens/access-token.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { IssueToken } from '../../tokens/issue.ts';
import { endSession, endSessionsOfDevice, revokeGrant, revokeToken } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import { endSuperfluousSessions } from './superfluous-sessions.ts';

export interface Account {
  readonly id: string;
  readonly email: string | null;
  readonly firstName: string;
  readonly lastName: string;
  readonly locale: string;
  /** IANA name. */
  readonly timezone: string;
  readonly passwordHash: string | null;
  readonly isActive: boolean;
  readonly isServiceAccount: boolean;
  /** Whether the email address is confirmed. */
  readonly isConfirmed: boolean;
  /** Null before the first sign-in. */
  readonly lastLoginAt: Date | null;
  /** The tenant in which the next sign-in starts. */
  readonly tenantId: string | null;
  readonly hasTwoFactor: boolean;
  readonly hasPin: boolean;
}

/** Accounts that can sign in with an address. */
export interface Claimants {
  /** The account that has confirmed the address. */
  readonly holder: Account | null;
  /**
   * One of the active unconfirmed accounts with the address: preferably the one registered in this browser, else a
   * member of a tenant, else the newest.
   */
  readonly claimant: Account | null;
}

export interface NewSession {
  readonly deviceId: string;
  /** Value of the device cookie if it is not the one of the device. */
  readonly deviceSecret: string | null;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  readonly secret: string;
  /** Secret of the browser's previous session. */
  readonly formerSecret: string | null;
  /** Whether the cookie survives closing the browser. */
  readonly isRemembered: boolean;
  /** In seconds. */
  readonly lifetime: number;
  readonly tokenLifetime: number;
  readonly origin: Origin;
}

/** Everything needed to decide a sign-in, in one statement. */
const ACCOUNT = Prisma.sql`
  SELECT u.id, u.email, u.first_name AS "firstName", u.last_name AS "lastName",
    u.locale, u.timezone, u.last_login_at AS "lastLoginAt", u.password_hash AS "passwordHash", u.is_active AS "isActive",
    u.is_service_account AS "isServiceAccount", u.email_verified_at IS NOT NULL AS "isConfirmed",
    (SELECT m.tenant_id FROM identity.memberships m WHERE m.user_id = u.id
      ORDER BY m.tenant_id IS NOT DISTINCT FROM u.tenant_id DESC, m.created_at LIMIT 1) AS "tenantId",
    EXISTS (SELECT FROM identity.two_factors f
      WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS "hasTwoFactor",
    EXISTS (SELECT FROM identity.pins p WHERE p.user_id = u.id) AS "hasPin"
  FROM identity.users u`;

export class SignInRepository {
  readonly #database: Database;
  readonly #issueToken: IssueToken;

  constructor(database: Database, issueToken: IssueToken) {
    this.#database = database;
    this.#issueToken = issueToken;
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(work);
  }

  /** The accounts that can sign in with an address, each with its default tenant. */
  async accounts(email: string, confirmationSecret: string | null): Promise<Claimants> {
    const found = await this.#database.$queryRaw<Account[]>`
      SELECT DISTINCT ON ("isConfirmed") a.* FROM (${ACCOUNT}
        WHERE u.email = ${email} AND NOT u.is_service_account
          AND (u.is_active OR u.email_verified_at IS NOT NULL)) a
      LEFT JOIN identity.registrations r ON r.user_id = a.id
      ORDER BY "isConfirmed",
        r.cookie_hash IS NOT DISTINCT FROM ${digest(confirmationSecret ?? '')} DESC,
        a."tenantId" IS NOT NULL DESC, a.id DESC`;
    return {
      holder: found.find(({ isConfirmed }) => isConfirmed) ?? null,
      claimant: found.find(({ isConfirmed }) => !isConfirmed) ?? null,
    };
  }

  /** The account, locked until the transaction ends. */
  async lockedAccount(tx: Transaction, id: string): Promise<Account | null> {
    await lockUser(tx, id);
    const [found] = await tx.$queryRaw<Account[]>`${ACCOUNT} WHERE u.id = ${id}::uuid`;
    return found ?? null;
  }

  async updateHash(tx: Transaction, id: string, passwordHash: string): Promise<void> {
    await tx.user.update({ where: { id }, data: { passwordHash } });
  }

  /** Issues the token of a sign-in that needs a second factor. */
  async suspend(
    tx: Transaction,
    { id: userId }: Account,
    { remember, lifetime }: { readonly remember: boolean; readonly lifetime: number },
  ): Promise<string> {
    const grant = { userId, tenantId: null, sessionId: null, clientId: FIRST_PARTY, lifetime };
    return this.#issueToken(tx, { ...grant, use: 'two_factor', remember });
  }

  /** Revokes the token of a pending sign-in; null if it was already used or revoked. */
  async resume(tx: Transaction, tokenId: string): Promise<{ readonly remember: boolean } | null> {
    const [token] = await tx.token.updateManyAndReturn({
      where: { id: tokenId, use: 'two_factor', revokedAt: null },
      data: { revokedAt: new Date() },
      select: { remember: true },
    });
    return token ?? null;
  }

  /** Opens a session and issues its first token. Ends the least recently used one if there are too many. */
  async openSession(tx: Transaction, account: Account, session: NewSession): Promise<string> {
    const { id: userId, tenantId, hasPin } = account;
    const { deviceId, deviceSecret, amr, secret, formerSecret, isRemembered, origin } = session;
    const { lifetime, tokenLifetime } = session;
    if (formerSecret) await this.#invalidateSecret(tx, formerSecret);
    const now = new Date();
    await tx.user.update({ where: { id: userId }, data: { lastLoginAt: now } });
    const { id: sessionId } = await tx.session.create({
      data: {
        userId,
        deviceId,
        deviceCookieHash: deviceSecret === null ? null : digest(deviceSecret),
        amr: [...amr],
        pinPending: hasPin,
        isRemembered,
        secretHash: digest(secret),
        expiresAt: new Date(+now + lifetime * 1000),
        ...origin,
      },
    });
    await endSuperfluousSessions(tx, userId);
    await note(tx, { userId, tenantId, ...origin }, 'login');
    return this.#issueToken(tx, {
      userId,
      tenantId,
      sessionId,
      clientId: FIRST_PARTY,
      use: 'login',
      lifetime: tokenLifetime,
    });
  }

  /**
   * The browser gets a new cookie, so the old session can no longer be used by cookie. Its tokens remain valid:
   * another tab may use them.
   */
  async #invalidateSecret(tx: Transaction, secret: string): Promise<void> {
    await tx.session.updateMany({
      where: { secretHash: digest(secret) },
      data: { secretHash: digest(newSecret()) },
    });
  }

  /**
   * Ends the session of a token. With an impersonation token only that token is revoked, and with a token of a
   * tenant's or a third-party client only those of its grant.
   */
  async signOut(caller: UserCaller, actor: Actor): Promise<void> {
    await this.#database.$transaction(async (tx) => {
      const revocations = await this.#revoke(tx, caller);
      await note(tx, actor, 'logout');
      await enqueue(tx, ...revocations);
    });
  }

  /**
   * Ends the session of a page and all other open sessions of the same device cookie: those of earlier sign-ins in
   * this browser, whose applications still have tokens.
   */
  async signOutDevice(caller: UserCaller, actor: Actor): Promise<void> {
    const { id: userId } = caller;
    await this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const device = await this.#deviceOf(tx, caller);
      const revocations =
        device === null
          ? await this.#revoke(tx, caller)
          : await endSessionsOfDevice(tx, { ...device, userId }, 'logout');
      await note(tx, actor, 'logout');
      if (revocations.length > 0) await enqueue(tx, ...revocations);
    });
  }

  /** Null if the device is no longer recorded. */
  async #deviceOf(tx: Transaction, { sessionId }: UserCaller) {
    if (sessionId === null) return null;
    const session = await tx.session.findUnique({ where: { id: sessionId } });
    if (!session?.deviceId) return null;
    return { deviceId: session.deviceId, cookieHash: session.deviceCookieHash };
  }

  async #revoke(tx: Transaction, caller: UserCaller): Promise<NewEvent[]> {
    const { id: userId, tokenId, sessionId, clientKind } = caller;
    const isFirstParty = clientKind === 'first_party';
    const grantId = isFirstParty ? null : await this.#grantOf(tx, tokenId);
    if (grantId !== null) return revokeGrant(tx, grantId, 'logout');
    return sessionId === null || caller.impersonatorId !== null || !isFirstParty
      ? [await revokeToken(tx, { tokenId, userId }, 'logout')]
      : [await endSession(tx, { sessionId, userId }, 'logout')];
  }

  async #grantOf(tx: Transaction, id: string): Promise<string | null> {
    const token = await tx.token.findUnique({ where: { id }, select: { grantId: true } });
    return token?.grantId ?? null;
  }

  async recordFailure({ id: userId, tenantId }: Account, origin: Origin): Promise<void> {
    await note(this.#database, { userId, tenantId, ...origin }, 'login_failed');
  }
}
