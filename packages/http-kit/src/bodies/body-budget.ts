import { Shares } from '@tessera/fair-shares';
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

/** The room of one body. */
export interface BodyRoom {
  /** Takes room for more bytes. Throws 503. */
  grow(bytes: number): void;
  /** Says that the body has arrived: from now on, it counts as one that is being handled. Throws 503. */
  arrive(): void;
  /** Gives back all room; has no effect the second time. */
  leave(): void;
}

/**
 * The memory of this process for request bodies. Each key, which is a tenant or a principal, or the client address if nobody
 * is authenticated, has at most half of what the others leave. Bodies that are still arriving and those that are being handled
 * have separate room, so that unfinished bodies never keep out those that arrive at once, whoever sends them.
 */
export class BodyBudget {
  static readonly TOTAL = 48 * MIB;
  /** The most that one key may have of either room. */
  static readonly SHARE = BodyBudget.TOTAL / 2;

  readonly #arriving: Shares;
  readonly #handled: Shares;

  constructor(total: number = BodyBudget.TOTAL) {
    this.#arriving = new Shares(total);
    this.#handled = new Shares(total);
  }

  /** The bytes that are counted now. */
  get held(): { readonly arriving: number; readonly handled: number } {
    return { arriving: this.#arriving.held, handled: this.#handled.held };
  }

  /** Takes room for a body of which `bytes` are there. Throws 503. */
  enter(key: string, { hasArrived, bytes }: { hasArrived: boolean; bytes: number }): BodyRoom {
    let shares = hasArrived ? this.#handled : this.#arriving;
    let held = 0;
    const grow = (more: number): void => {
      if (!shares.take(key, more)) throw noRoomForBody();
      held += more;
    };
    const leave = (): void => {
      if (held > 0) shares.give(key, held);
      held = 0;
    };
    grow(BYTES_OF_REQUEST + bytes);
    return {
      grow,
      leave,
      arrive: () => {
        if (shares === this.#handled) return;
        const all = held;
        leave();
        shares = this.#handled;
        grow(all);
      },
    };
  }
}

/** The budget of this process, whichever application in it reads the body. */
export const bodyBudget = new BodyBudget();
