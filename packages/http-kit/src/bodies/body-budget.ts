import { type Holder, ReplaceableShares, Shares } from '@tessera/fair-shares';
import { HttpError } from '../http-error.ts';

const MIB = 1024 * 1024;

/** What each body counts for besides its bytes: its connection, its request and its response. */
export const BYTES_OF_REQUEST = 16 * 1024;

/** 503: the bodies of this caller, or of all callers, have no room for more bytes in memory. */
export const noRoomForBody = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many request bodies are in memory. Try again.', {
    headers: { 'Retry-After': '1' },
    details: { max_bytes_in_memory: BodyBudget.SHARE },
  });

/** The room of one body. A body that has left it, for example because its client has disconnected, gets no more: 503. */
export interface BodyRoom {
  /** Takes room for more bytes. Throws 503. */
  grow(bytes: number): void;
  /** Says that the body has arrived: from now on, it counts as one that is being handled. Throws 503. */
  arrive(): void;
  /** Gives back all room; has no effect the second time. */
  leave(): void;
}

/** A body that enters the budget. */
export interface EnteringBody {
  /** Whether all of it is there. */
  readonly hasArrived: boolean;
  /** The bytes that are there. */
  readonly bytes: number;
  /** Called if a newer body needs the room of this one before it has arrived: nobody must hold its bytes any more. */
  replace(): void;
}

/**
 * The memory of this process for request bodies. Each key, which is a tenant or a principal, or the client address if nobody
 * is authenticated, has at most half of what the others leave. Bodies that are still arriving and those that are being handled
 * have separate room. Of those that arrive, the oldest one makes room for a newer one of the same key, or of a key that has
 * less: so unfinished bodies never keep out others, whoever sends them.
 */
export class BodyBudget {
  static readonly TOTAL = 32 * MIB;
  /** The most that one key may have of either room. */
  static readonly SHARE = BodyBudget.TOTAL / 2;

  readonly #arriving: ReplaceableShares;
  readonly #handled: Shares;

  constructor(total: number = BodyBudget.TOTAL) {
    this.#arriving = new ReplaceableShares(total);
    this.#handled = new Shares(total);
  }

  /** The bytes that are counted now. */
  get held(): { readonly arriving: number; readonly handled: number } {
    return { arriving: this.#arriving.held, handled: this.#handled.held };
  }

  /** Takes room for a body. Throws 503. */
  enter(key: string, { hasArrived, bytes, replace }: EnteringBody): BodyRoom {
    let isArriving = !hasArrived;
    let hasLeft = false;
    let held = 0;
    const giveBack = (): void => {
      const shares = isArriving ? this.#arriving : this.#handled;
      if (held > 0) shares.give(key, held);
      held = 0;
      this.#arriving.remove(holder);
    };
    const leave = (): void => {
      hasLeft = true;
      giveBack();
    };
    const holder: Holder = {
      key,
      replace() {
        leave();
        replace();
      },
    };
    const grow = (more: number): void => {
      // What is taken after the end would never be given back.
      if (hasLeft) throw noRoomForBody();
      const isTaken = isArriving
        ? this.#arriving.take(key, more, holder)
        : this.#handled.take(key, more);
      if (!isTaken) throw noRoomForBody();
      held += more;
    };
    grow(BYTES_OF_REQUEST + bytes);
    if (isArriving) this.#arriving.add(holder);
    return {
      grow,
      leave,
      arrive() {
        if (!isArriving) return;
        const all = held;
        giveBack();
        isArriving = false;
        grow(all);
      },
    };
  }
}

/** The budget of this process, whichever application in it reads the body. */
export const bodyBudget = new BodyBudget();
