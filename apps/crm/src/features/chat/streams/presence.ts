export type PresenceStatus = 'online' | 'offline';

export interface PresenceOptions {
  /** Identifies this process among the replicas. */
  readonly instance: string;
  /** Sends notifications to all replicas, also to this one. Never rejects. */
  send(payloads: readonly string[]): Promise<void>;
  /** A user of a tenant has come or gone, at any replica. */
  changed(tenantId: string, userId: string, status: PresenceStatus): void;
}

/** Milliseconds that a user stays online without a stream, so that a reconnection is no absence. */
const GRACE_MS = 5000;
/** Milliseconds between two announcements of all users of a replica. */
const REPEAT_MS = 30_000;
/** Milliseconds after which a replica that announces nothing counts as killed. */
const LOST_MS = 75_000;

const keyOf = (tenantId: string, userId: string): string => `${tenantId} ${userId}`;

/**
 * Who has an open stream, at this or another replica. Replicas tell each other by notifications with ids and keep
 * it in memory: nothing is written to the database.
 */
export class Presence {
  readonly #options: PresenceOptions;
  /** The open streams of users at this replica. */
  readonly #own = new Map<string, number>();
  readonly #leaving = new Map<string, NodeJS.Timeout>();
  /** The replicas that have stopped, until their users have had the time to reconnect to another one. */
  readonly #stopped = new Map<string, NodeJS.Timeout>();
  /** The replicas at which users are, and when each said so last. */
  readonly #seen = new Map<string, Map<string, number>>();
  #repeating: NodeJS.Timeout | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#repeating = setInterval(() => {
      this.#announceOwn();
      this.#forgetLost();
    }, REPEAT_MS);
  }

  /** Tells the other replicas, which would otherwise take this one for killed only after a while. */
  async stop(): Promise<void> {
    clearInterval(this.#repeating);
    for (const timers of [this.#leaving, this.#stopped]) {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    }
    if (this.#own.size > 0) await this.#options.send([`stopped ${this.#options.instance}`]);
    this.#own.clear();
  }

  /** Asks the other replicas who is there. */
  ask(): void {
    void this.#options.send([`who ${this.#options.instance}`]);
    this.#announceOwn();
  }

  isOnline(tenantId: string, userId: string): boolean {
    const key = keyOf(tenantId, userId);
    return this.#own.has(key) || this.#seen.has(key);
  }

  /** Counts a stream of a user; returns how to end it. */
  enter(tenantId: string, userId: string): () => void {
    const key = keyOf(tenantId, userId);
    clearTimeout(this.#leaving.get(key));
    this.#leaving.delete(key);
    const count = this.#own.get(key) ?? 0;
    this.#own.set(key, count + 1);
    if (count === 0) this.#tell('online', key);
    return () => {
      const left = (this.#own.get(key) ?? 1) - 1;
      this.#own.set(key, left);
      if (left === 0)
        this.#leaving.set(
          key,
          setTimeout(() => this.#leave(key), GRACE_MS),
        );
    };
  }

  /** Receives a notification of any replica; returns whether it was one of presence. */
  receive(payload: string): boolean {
    const [what, ...rest] = payload.split(' ');
    if (what === 'who') {
      if (rest[0] !== this.#options.instance) this.#announceOwn();
    } else if (what === 'stopped') {
      this.#stoppedAt(rest[0] ?? '');
    } else if (what === 'online' || what === 'offline') {
      const [tenantId = '', userId = '', instance = ''] = rest;
      this.#heard(what, { tenantId, userId, instance });
    } else return false;
    return true;
  }

  #heard(
    status: PresenceStatus,
    who: { readonly tenantId: string; readonly userId: string; readonly instance: string },
  ): void {
    const key = keyOf(who.tenantId, who.userId);
    const replicas = this.#seen.get(key) ?? new Map<string, number>();
    const wasOnline = replicas.size > 0;
    if (status === 'online') replicas.set(who.instance, performance.now());
    else replicas.delete(who.instance);
    if (replicas.size > 0) this.#seen.set(key, replicas);
    else this.#seen.delete(key);
    const isOnline = replicas.size > 0;
    if (wasOnline !== isOnline) this.#options.changed(who.tenantId, who.userId, status);
  }

  #stoppedAt(instance: string): void {
    clearTimeout(this.#stopped.get(instance));
    const forget = (): void => {
      this.#stopped.delete(instance);
      this.#forget((replica) => replica === instance);
    };
    this.#stopped.set(instance, setTimeout(forget, GRACE_MS));
  }

  #leave(key: string): void {
    this.#leaving.delete(key);
    this.#own.delete(key);
    this.#tell('offline', key);
  }

  #tell(status: PresenceStatus, key: string): void {
    void this.#options.send([`${status} ${key} ${this.#options.instance}`]);
  }

  #announceOwn(): void {
    const { instance, send } = this.#options;
    if (this.#own.size === 0) return;
    void send([...this.#own.keys()].map((key) => `online ${key} ${instance}`));
  }

  #forgetLost(): void {
    const limit = performance.now() - LOST_MS;
    this.#forget((_, at) => at < limit);
  }

  #forget(isGone: (instance: string, at: number) => boolean): void {
    for (const [key, replicas] of [...this.#seen]) {
      const [tenantId = '', userId = ''] = key.split(' ');
      for (const [instance, at] of [...replicas]) {
        if (isGone(instance, at)) this.#heard('offline', { tenantId, userId, instance });
      }
    }
  }
}
