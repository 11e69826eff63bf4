import type { ResourceServer } from '@tessera/resource-server';

/** How long an answer of identity is used, in milliseconds. An event about the tenant ends it earlier. */
const FRESH_MS = 15_000;
/** How long tenants that were active count as active while identity is not available. */
const OUTAGE_MS = 10 * 60_000;
/** Milliseconds between two attempts during an outage. */
const RETRY_MS = 5000;
const CAPACITY = 10_000;

interface Known {
  /** Undefined if the tenant is not active. */
  readonly slug: string | undefined;
  readonly answeredAt: number;
  readonly askAgainAt: number;
}

type Access = Pick<ResourceServer, 'onEvent' | 'tenantOf'>;

/**
 * Which tenants are active, as identity says. For requests without a caller of identity, such as those of bots and of
 * public reading: there can be many, so answers are cached for some seconds even if no events are received, and a short
 * outage of identity does not end the access.
 */
export class ActiveTenants {
  readonly #access: Access;
  readonly #clock: () => number;
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Promise<string | undefined>>();
  /** The number of events so far: an answer that was requested before an event is not kept. */
  #events = 0;

  constructor(access: Access, clock: () => number) {
    this.#access = access;
    this.#clock = clock;
    access.onEvent((event) => {
      if (event.type !== 'identity.tenant.status_changed') return;
      this.#events += 1;
      this.#known.delete(event.data.tenant_id);
      this.#asked.delete(event.data.tenant_id);
    });
  }

  /** The slug of an active tenant; undefined if it is not active. Throws 503 if that is unknown. */
  async slugOf(tenantId: string): Promise<string | undefined> {
    const known = this.#known.get(tenantId);
    if (known && this.#clock() < known.askAgainAt) return known.slug;
    const running = this.#asked.get(tenantId);
    if (running) return running;
    const started = this.#ask(tenantId).finally(() => {
      if (this.#asked.get(tenantId) === started) this.#asked.delete(tenantId);
    });
    this.#asked.set(tenantId, started);
    return started;
  }

  async #ask(tenantId: string): Promise<string | undefined> {
    const events = this.#events;
    const tenant = await this.#access.tenantOf(tenantId);
    const now = this.#clock();
    const isUnchanged = events === this.#events;
    if (tenant.state !== 'unknown') {
      const slug = tenant.state === 'active' ? tenant.slug : undefined;
      if (isUnchanged) {
        this.#keep(tenantId, { slug, answeredAt: now, askAgainAt: now + FRESH_MS });
      }
      return slug;
    }
    const last = this.#known.get(tenantId);
    if (!last || now - last.answeredAt >= OUTAGE_MS) throw tenant.error;
    this.#keep(tenantId, { ...last, askAgainAt: now + RETRY_MS });
    return last.slug;
  }

  #keep(tenantId: string, known: Known): void {
    this.#known.delete(tenantId);
    this.#known.set(tenantId, known);
    // A map keeps the order of insertion, so the first key is the oldest.
    const [oldest] = this.#known.keys();
    if (this.#known.size > CAPACITY && oldest !== undefined) this.#known.delete(oldest);
  }
}
