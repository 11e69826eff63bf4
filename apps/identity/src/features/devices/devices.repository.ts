import { type Actor, note } from '../../activity/activity.ts';
import { changesBetween } from '../../activity/changes.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Device } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import { describeDevice } from '../../origin/user-agent.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { digest } from '../../security/secrets.ts';
import { endSessionsOfDevice } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import { ownDevice, ownerOfOtherCookie, sharedDevice } from './shared-devices.ts';

/** Maximum number of devices kept per user; most users have a handful. */
export const MAX_DEVICES = 200;
/** Maximum number of devices kept per user that never returned their cookie and have no session. */
export const MAX_UNRECOGNISED = 50;

const lastSeen = ({ ipAddress, userAgent }: Origin) => ({
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

  /** The id of the user whose device has this secret. */
  async ownerOf(secret: string): Promise<string | null> {
    const found = await this.#database.device.findUnique({
      where: { secretHash: digest(secret) },
      select: { userId: true },
    });
    return found?.userId ?? ownerOfOtherCookie(this.#database, secret);
  }

  /** See `ownDevice`. */
  own(tx: Transaction, userId: string, secret: string): Promise<Device | null> {
    return ownDevice(tx, userId, secret);
  }

  find(tx: Transaction, userId: string, secret: string): Promise<Device | null> {
    return tx.device.findFirst({ where: { secretHash: digest(secret), userId } });
  }

  /** See `sharedDevice`. */
  shared(tx: Transaction, userId: string, userAgent: string | null): Promise<Device | null> {
    return sharedDevice(tx, userId, userAgent);
  }

  /** Updates a device and its known networks; `keepsCookie` if it presented its cookie. */
  update(
    tx: Transaction,
    { id }: Device,
    origin: Origin,
    known: { readonly networks: readonly string[]; readonly keepsCookie: boolean },
  ): Promise<Device> {
    const { keepsCookie, networks } = known;
    const data = { ...lastSeen(origin), keepsCookie, networks: [...networks] };
    return tx.device.update({ where: { id }, data });
  }

  /** Adds a device. */
  async add(
    tx: Transaction,
    userId: string,
    secret: string,
    origin: Origin,
    networks: readonly string[],
  ): Promise<Device> {
    await this.#removeOldest(tx, userId);
    return tx.device.create({
      data: { ...lastSeen(origin), userId, secretHash: digest(secret), networks: [...networks] },
    });
  }

  /**
   * Limits the devices of a user: of those that never returned, are not trusted and have no session, only the
   * newest are kept, and of all of them those with trust and with sessions before others.
   */
  async #removeOldest(tx: Transaction, userId: string): Promise<void> {
    await tx.$executeRaw`
      DELETE FROM identity.devices WHERE id IN (
        SELECT d.id FROM identity.devices d
        WHERE d.user_id = ${userId}::uuid AND NOT d.keeps_cookie
          AND (d.trusted_until IS NULL OR d.trusted_until < now())
          AND NOT EXISTS (SELECT FROM identity.sessions s
            WHERE s.device_id = d.id AND s.ended_at IS NULL AND s.expires_at > now())
        ORDER BY d.last_used_at DESC OFFSET ${MAX_UNRECOGNISED - 1})`;
    await tx.$executeRaw`
      DELETE FROM identity.devices WHERE id IN (
        SELECT d.id FROM identity.devices d
        WHERE d.user_id = ${userId}::uuid
        ORDER BY coalesce(d.trusted_until > now(), false) DESC,
          EXISTS (SELECT FROM identity.sessions s
            WHERE s.device_id = d.id AND s.ended_at IS NULL AND s.expires_at > now()) DESC,
          d.last_used_at DESC OFFSET ${MAX_DEVICES - 1})`;
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

  /** Revokes trust in all devices of a user except the one of this session. */
  async endTrustOfOthers(tx: Transaction, userId: string, sessionId: string | null): Promise<void> {
    await tx.device.updateMany({
      where: {
        userId,
        trustedUntil: { not: null },
        ...(sessionId && { sessions: { none: { id: sessionId } } }),
      },
      data: { trustedUntil: null },
    });
  }

  /** Revokes trust in a device; null if the user has no such device. */
  distrust(actor: Actor, id: string): Promise<'ended' | 'unchanged' | null> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const device = await tx.device.findFirst({ where: { id, userId } });
      if (!device) return null;
      if (device.trustedUntil === null) return 'unchanged';
      await tx.device.update({ where: { id }, data: { trustedUntil: null } });
      await note(tx, actor, 'device_untrusted');
      return 'ended';
    });
  }

  /** Sets or removes the name of a device; null if the user has no such device. */
  rename(actor: Actor, id: string, customName: string | null): Promise<Device | null> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const device = await tx.device.findFirst({ where: { id, userId } });
      if (!device || device.customName === customName) return device;
      const changes = changesBetween({ name: device.customName }, { name: customName });
      await note(tx, actor, 'device_renamed', { changes });
      return tx.device.update({ where: { id }, data: { customName } });
    });
  }

  /** Most recently used first. */
  list(userId: string): Promise<Device[]> {
    return this.#database.device.findMany({
      where: { userId },
      orderBy: [{ lastUsedAt: 'desc' }, { id: 'asc' }],
      take: MAX_DEVICES,
    });
  }

  async deviceOfSession(sessionId: string): Promise<string | null> {
    const session = await this.#database.session.findUnique({ where: { id: sessionId } });
    return session?.deviceId ?? null;
  }

  /** Removes a device and ends its sessions; false if the user has no such device. */
  remove(actor: Actor, id: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      // First, because sessions do not refer to a device that has been deleted.
      const revocations = await endSessionsOfDevice(tx, { deviceId: id, userId }, 'device_revoked');
      const { count } = await tx.device.deleteMany({ where: { id, userId } });
      if (count === 0) return false;
      await note(tx, actor, 'device_revoked');
      if (revocations.length > 0) await enqueue(tx, ...revocations);
      return true;
    });
  }
}
