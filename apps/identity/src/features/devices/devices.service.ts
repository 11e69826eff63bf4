import { networkOf, notFound } from '@tessera/http-kit';
import { type Actor, actorOf, note } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Device } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Place, Places } from '../../origin/places.ts';
import { newSecret } from '../../security/secrets.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { DevicesRepository } from './devices.repository.ts';

/** The device of a sign-in. */
export interface RecordedDevice {
  readonly device: Device;
  /** The cookie value. */
  readonly secret: string;
  /** Whether the cookie is not the one of the device: the device is shared until the cookie comes back. */
  readonly isShared: boolean;
  /**
   * Why the user is notified: a new device, or a known device in a new network. Null for neither.
   */
  readonly notice: 'new_device' | 'new_network' | null;
  /** Network of the sign-in in CIDR notation; null if unknown. */
  readonly network: string | null;
}

/** Maximum number of networks remembered per device. */
const MAX_NETWORKS = 50;

export interface ListedDevice extends Device {
  readonly isTrusted: boolean;
  /** Whether it is the caller's device. */
  readonly isCurrent: boolean;
  /** Location of the last sign-in; null if unknown. */
  readonly place: Place | null;
}

const isTrusted = ({ trustedUntil }: Device): boolean => +(trustedUntil ?? 0) > Date.now();

/** Devices that users sign in from, and trust in them (decision I7). */
export class DevicesService {
  readonly #repository: DevicesRepository;
  readonly #trustLifetime: number;
  readonly #places: Pick<Places, 'of'>;

  /** `trustLifetime` is in seconds. */
  constructor(repository: DevicesRepository, trustLifetime: number, places: Pick<Places, 'of'>) {
    this.#repository = repository;
    this.#trustLifetime = trustLifetime;
    this.#places = places;
  }

  /** The id of the user whose device has this secret; null if none. */
  async ownerOf(secret: string | null): Promise<string | null> {
    return secret && this.#repository.ownerOf(secret);
  }

  /** Whether the secret belongs to a trusted device of this user, which skips the second factor. */
  async isTrusted(tx: Transaction, userId: string, secret: string | null): Promise<boolean> {
    const device = secret && (await this.#repository.find(tx, userId, secret));
    return device ? isTrusted(device) : false;
  }

  /**
   * Records the device of a sign-in. Only its cookie identifies a known device. Sign-ins without one that have the same
   * user agent share a device, but no cookie and no trust (decision I7). The caller has locked the user.
   */
  async record(
    tx: Transaction,
    userId: string,
    secret: string | null,
    origin: Origin,
  ): Promise<RecordedDevice> {
    const { ipAddress } = origin;
    const network = ipAddress && networkOf(ipAddress);
    const own = secret && (await this.#repository.own(tx, userId, secret));
    const known = own || (await this.#repository.shared(tx, userId, origin.userAgent));
    const isShared = known !== null && !own;
    const cookie = secret && own ? secret : newSecret();
    if (!known) {
      const networks = network ? [network] : [];
      const device = await this.#repository.add(tx, userId, cookie, origin, networks);
      return { device, secret: cookie, isShared, notice: 'new_device', network };
    }
    const others = known.networks.filter((one) => one !== network);
    const networks = [...others, ...(network ? [network] : [])].slice(-MAX_NETWORKS);
    const seen = { networks, keepsCookie: !isShared };
    const device = await this.#repository.update(tx, known, origin, seen);
    // No notice for a device without recorded networks.
    const isKnown = known.networks.length === 0 || known.networks.includes(network ?? '');
    const notice = network && !isKnown ? 'new_network' : null;
    return { device, secret: cookie, isShared, notice, network };
  }

  /**
   * Trusts the device with this secret for the configured lifetime; it skips the second factor. No effect if the user
   * has no such device.
   */
  async trust(tx: Transaction, userId: string, secret: string | null, actor: Actor): Promise<void> {
    const device = secret && (await this.#repository.own(tx, userId, secret));
    if (!device) return;
    const until = new Date(Date.now() + this.#trustLifetime * 1000);
    await this.#repository.trust(tx, device.id, until);
    await note(tx, actor, 'device_trusted');
  }

  /** Revokes trust in all devices of the user. Devices and sessions remain. */
  async endTrust(tx: Transaction, userId: string): Promise<void> {
    await this.#repository.endTrust(tx, userId);
  }

  /** Revokes trust in all devices of the user except the one of this session. */
  async endTrustOfOthers(tx: Transaction, userId: string, sessionId: string | null): Promise<void> {
    await this.#repository.endTrustOfOthers(tx, userId, sessionId);
  }

  /** The caller's devices, most recently used first. */
  async list(caller: UserCaller): Promise<ListedDevice[]> {
    const current = await this.#currentOf(caller);
    const devices = await this.#repository.list(caller.id);
    return devices.map((device) => this.#listed(device, current));
  }

  /** Sets the name of a device; null removes it. 404 if the caller has no such device. */
  async rename(
    caller: UserCaller,
    deviceId: string,
    name: string | null,
    origin: Origin,
  ): Promise<ListedDevice> {
    const device = await this.#repository.rename(actorOf(caller, origin), deviceId, name);
    if (!device) throw notFound('The device');
    return this.#listed(device, await this.#currentOf(caller));
  }

  /**
   * Revokes trust in a device; it needs the second factor again. 404 if the caller has no such device.
   */
  async distrust(caller: UserCaller, deviceId: string, origin: Origin): Promise<void> {
    const outcome = await this.#repository.distrust(actorOf(caller, origin), deviceId);
    if (outcome === null) throw notFound('The device');
  }

  /** Removes a device and ends its sessions. 404 if the caller has no such device. */
  async revoke(caller: UserCaller, deviceId: string, origin: Origin): Promise<void> {
    const isRemoved = await this.#repository.remove(actorOf(caller, origin), deviceId);
    if (!isRemoved) throw notFound('The device');
  }

  async #currentOf({ sessionId }: UserCaller): Promise<string | null> {
    return sessionId && this.#repository.deviceOfSession(sessionId);
  }

  #listed(device: Device, current: string | null): ListedDevice {
    return {
      ...device,
      isTrusted: isTrusted(device),
      isCurrent: device.id === current,
      place: device.ipAddress === null ? null : this.#places.of(device.ipAddress),
    };
  }
}
