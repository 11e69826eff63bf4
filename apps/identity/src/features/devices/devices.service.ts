import { networkOf, notFound } from '@tessera/http-kit';
import { type Actor, actorOf, note } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Device } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Place, Places } from '../../origin/places.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { DevicesRepository } from './devices.repository.ts';

/** What a sign-in knows of the device that it comes from. */
export interface RecordedDevice {
  readonly device: Device;
  /** The value of its cookie. */
  readonly secret: string;
  /** What the user has to be told of: the device is new, or a known one is in a new network; null for neither. */
  readonly news: 'new_device' | 'new_network' | null;
  /** The network that it signs in from, in CIDR notation; null where that is unknown. */
  readonly network: string | null;
}

/** Most networks that are remembered of a device. */
const MOST_NETWORKS = 50;

export interface ListedDevice extends Device {
  readonly isTrusted: boolean;
  /** The caller's own. */
  readonly isCurrent: boolean;
  /** Where it last signed in from; null where its address is not known. */
  readonly place: Place | null;
}

const isTrusted = ({ trustedUntil }: Device): boolean => +(trustedUntil ?? 0) > Date.now();

/** Where users sign in from, and which of these places are trusted (decision I7). */
export class DevicesService {
  readonly #repository: DevicesRepository;
  readonly #trustLifetime: number;
  readonly #places: Pick<Places, 'of'>;

  /** `trustLifetime` in seconds. */
  constructor(repository: DevicesRepository, trustLifetime: number, places: Pick<Places, 'of'>) {
    this.#repository = repository;
    this.#trustLifetime = trustLifetime;
    this.#places = places;
  }

  /** Whose device has this secret; null without one. */
  async ownerOf(secret: string | null): Promise<string | null> {
    return secret && this.#repository.ownerOf(secret);
  }

  /** Whether the secret is that of a device of this user which skips the second factor. */
  async isTrusted(tx: Transaction, userId: string, secret: string | null): Promise<boolean> {
    const device = secret && (await this.#repository.find(tx, userId, secret));
    return device ? isTrusted(device) : false;
  }

  /** The user's device with this secret; null without one. */
  async idOf(tx: Transaction, userId: string, secret: string | null): Promise<string | null> {
    const device = secret && (await this.#repository.find(tx, userId, secret));
    return device ? device.id : null;
  }

  /**
   * Notes that a user signs in from a device. Only its cookie tells that it is a known one: without, it is new,
   * whatever it looks like. The user is locked.
   */
  async record(
    tx: Transaction,
    userId: string,
    secret: string | null,
    origin: Origin,
  ): Promise<RecordedDevice> {
    const { ipAddress } = origin;
    const network = ipAddress && networkOf(ipAddress);
    const known = secret && (await this.#repository.find(tx, userId, secret));
    if (!secret || !known) {
      const networks = network ? [network] : [];
      const added = await this.#repository.add(tx, userId, origin, networks);
      return { ...added, news: 'new_device', network };
    }
    const others = known.networks.filter((one) => one !== network);
    const networks = [...others, ...(network ? [network] : [])].slice(-MOST_NETWORKS);
    const device = await this.#repository.recogniseAgain(tx, known.id, origin, networks);
    // A device of which no network was recorded yet is told of no new one.
    const isKnown = known.networks.length === 0 || known.networks.includes(network ?? '');
    return { device, secret, news: network && !isKnown ? 'new_network' : null, network };
  }

  /** From now on the device skips the second factor, for as long as trust lasts. */
  async trust(tx: Transaction, deviceId: string, actor: Actor): Promise<void> {
    const until = new Date(Date.now() + this.#trustLifetime * 1000);
    await this.#repository.trust(tx, deviceId, until);
    await note(tx, actor, 'device_trusted');
  }

  /** No device of the user skips the second factor any more. Devices and sessions stay. */
  async endTrust(tx: Transaction, userId: string): Promise<void> {
    await this.#repository.endTrust(tx, userId);
  }

  /** The same for every device but the one of this session. */
  async endTrustOfOthers(tx: Transaction, userId: string, sessionId: string | null): Promise<void> {
    await this.#repository.endTrustOfOthers(tx, userId, sessionId);
  }

  /** The caller's devices, the last used first. */
  async list(caller: UserCaller): Promise<ListedDevice[]> {
    const current = await this.#currentOf(caller);
    const devices = await this.#repository.list(caller.id);
    return devices.map((device) => this.#listed(device, current));
  }

  /** Gives a device of the caller a name, or with null takes it away; 404 where they have none with this id. */
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

  /** From now on a device of the caller needs the second factor; 404 where they have none with this id. */
  async distrust(caller: UserCaller, deviceId: string, origin: Origin): Promise<void> {
    const outcome = await this.#repository.distrust(actorOf(caller, origin), deviceId);
    if (outcome === null) throw notFound('The device');
  }

  /** Removes a device of the caller and ends its sessions; 404 where they have none with this id. */
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
