import { type Actor, note } from '../../activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Device } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { digest, newSecret } from '../../secrets.ts';
import { endSessions } from '../../tokens/revoke.ts';
import { lockUser } from '../../users.ts';
import { describeDevice } from './user-agent.ts';

/** Most devices that a list holds: a person has a handful. */
export const MOST_LISTED = 200;

const hashOf = (secret: string) => new Uint8Array(digest(secret));

const seen = ({ ipAddress, userAgent }: Origin) => ({
  ...describeDevice(userAgent),
  userAgent,
  ipAddress,
  lastUsedAt: new Date(),
});

export class DevicesRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whose device has this secret. */
  async ownerOf(secret: string): Promise<string | null> {
    const found = await this.#database.device.findUnique({
      where: { secretHash: hashOf(secret) },
      select: { userId: true },
    });
    return found?.userId ?? null;
  }

  find(tx: Transaction, userId: string, secret: string): Promise<Device | null> {
    return tx.device.findFirst({ where: { secretHash: hashOf(secret), userId } });
  }

  /** The device has come back with its cookie. */
  recogniseAgain(tx: Transaction, id: string, origin: Origin): Promise<Device> {
    return tx.device.update({ where: { id }, data: { ...seen(origin), keepsCookie: true } });
  }

  /**
   * A device without a cookie of this user's: the row of clients with the same user agent that drop theirs,
   * or a new one. Nothing that a device has earned, by its cookie, passes to who merely looks like it.
   */
  async recordStranger(
    tx: Transaction,
    userId: string,
    origin: Origin,
  ): Promise<{ readonly device: Device; readonly secret: string; readonly isNew: boolean }> {
    const secret = newSecret();
    const data = { ...seen(origin), secretHash: hashOf(secret) };
    const alike = await tx.device.findFirst({
      where: { userId, userAgent: origin.userAgent, keepsCookie: false, trustedUntil: null },
      orderBy: { lastUsedAt: 'desc' },
    });
    const device = alike
      ? await tx.device.update({ where: { id: alike.id }, data })
      : await tx.device.create({ data: { ...data, userId } });
    return { device, secret, isNew: !alike };
  }

  async trust(tx: Transaction, id: string, until: Date): Promise<void> {
    await tx.device.updateMany({ where: { id }, data: { trustedUntil: until } });
  }

  async endTrust(tx: Transaction, userId: string): Promise<void> {
    await tx.device.updateMany({
      where: { userId, trustedUntil: { not: null } },
      data: { trustedUntil: null },
    });
  }

  /** The last used first. */
  list(userId: string): Promise<Device[]> {
    return this.#database.device.findMany({
      where: { userId },
      orderBy: [{ lastUsedAt: 'desc' }, { id: 'asc' }],
      take: MOST_LISTED,
    });
  }

  async deviceOfSession(sessionId: string): Promise<string | null> {
    const session = await this.#database.session.findUnique({ where: { id: sessionId } });
    return session?.deviceId ?? null;
  }

  /** Removes a device and ends its sessions; false where the user has no such device. */
  remove(actor: Actor, id: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      // A sign-in that is under way ends before: its session is among those that are ended.
      await lockUser(tx, userId);
      const sessions = await tx.session.findMany({
        where: { deviceId: id, userId, endedAt: null, expiresAt: { gt: new Date() } },
        select: { id: true },
      });
      const { count } = await tx.device.deleteMany({ where: { id, userId } });
      if (count === 0) return false;
      const sessionIds = sessions.map(({ id }) => id);
      const news = await endSessions(tx, { sessionIds, userId }, 'device_revoked');
      await note(tx, actor, 'device_revoked');
      if (news.length > 0) await enqueue(tx, ...news);
      return true;
    });
  }
}
