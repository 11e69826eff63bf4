import type { Transaction } from '../../database.ts';
import type { Device } from '../../generated/prisma/client.ts';
import { digest } from '../../security/secrets.ts';

/** Sessions of other cookies than that of their device, and what identifies their user. */
const otherCookie = { deviceCookieHash: { not: null }, deviceId: { not: null } };

/** The id of the user to whose sign-in a cookie was given that is not the one of a device; null if none. */
export const ownerOfOtherCookie = async (
  { session }: Pick<Transaction, 'session'>,
  secret: string,
): Promise<string | null> => {
  const where = { ...otherCookie, deviceCookieHash: digest(secret) };
  return (await session.findFirst({ where, select: { userId: true } }))?.userId ?? null;
};

/** Adds a device like this one for the sessions with a cookie, which becomes the cookie of the device. */
const addLike = async (
  tx: Transaction,
  { userId, networks, name, type, browser, os, userAgent, ipAddress, lastUsedAt }: Device,
  secretHash: Uint8Array<ArrayBuffer>,
): Promise<Device> => {
  const seen = { name, type, browser, os, userAgent, ipAddress, lastUsedAt };
  const device = await tx.device.create({ data: { ...seen, userId, networks, secretHash } });
  await tx.session.updateMany({
    where: { userId, deviceCookieHash: secretHash },
    data: { deviceId: device.id, deviceCookieHash: null },
  });
  return device;
};

/**
 * The user's device with this cookie, which no other browser shares from now on: trust, its sessions and its
 * revocation concern this browser alone. Null if there is none. The caller has locked the user.
 */
export const ownDevice = async (
  tx: Transaction,
  userId: string,
  secret: string,
): Promise<Device | null> => {
  const secretHash = digest(secret);
  const own = await tx.device.findFirst({ where: { secretHash, userId } });
  if (!own) {
    const where = { ...otherCookie, deviceCookieHash: secretHash, userId };
    const session = await tx.session.findFirst({ where, include: { device: true } });
    return session?.device ? addLike(tx, session.device, secretHash) : null;
  }
  const where = { ...otherCookie, deviceId: own.id };
  const newest = await tx.session.findFirst({ where, orderBy: { id: 'desc' } });
  if (newest?.deviceCookieHash) {
    const rest = await addLike(tx, own, newest.deviceCookieHash);
    await tx.session.updateMany({ where, data: { deviceId: rest.id } });
  }
  return own;
};

/**
 * The device that sign-ins without a cookie share: with the same user agent, and neither claimed by a returned cookie
 * nor trusted nor named. If there are several, they become one. Null if there is none. The caller has locked the
 * user.
 */
export const sharedDevice = async (
  tx: Transaction,
  userId: string,
  userAgent: string | null,
): Promise<Device | null> => {
  const untrusted = { OR: [{ trustedUntil: null }, { trustedUntil: { lt: new Date() } }] };
  const [shared, ...others] = await tx.device.findMany({
    where: { userId, userAgent, keepsCookie: false, customName: null, ...untrusted },
    orderBy: [{ lastUsedAt: 'desc' }, { id: 'desc' }],
  });
  if (!shared) return null;
  if (others.length > 0) {
    const ids = others.map(({ id }) => id);
    await tx.$executeRaw`
      UPDATE identity.sessions s SET device_id = ${shared.id}::uuid,
        device_cookie_hash = coalesce(s.device_cookie_hash, d.secret_hash)
      FROM identity.devices d WHERE d.id = s.device_id AND d.id = ANY (${ids}::uuid[])`;
    await tx.device.deleteMany({ where: { id: { in: ids } } });
  }
  return shared;
};
