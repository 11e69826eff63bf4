import { FairCache, FairQueue, QueueFull } from '@tessera/fair-shares';
import { HttpError } from '@tessera/http-kit';
import { CacheUse } from '@tessera/telemetry/metrics';

interface BuiltText {
  readonly etag: string;
  readonly text: Buffer;
}

/** The most bytes that are kept. Tenants share them: a full cache drops those of the tenant that has most. */
const MAX_BYTES = 8 * 1024 * 1024;

/** How many texts are built at the same time, and how many may wait for that; a tenant has half of what the others leave. */
const BUILDS = { concurrency: 2, waiting: 100, maxWaitMs: 10_000 };

/** How many bytes of a text are sent at once. All responses send parts of the same buffer. */
const PART = 64 * 1024;

/** Which text: of which tenant, under which name, and the entity tag that it has now. */
export interface TextName {
  readonly tenant: string;
  readonly name: string;
  readonly etag: string;
}

/**
 * Feeds and sitemaps that were built before, in UTF-8, each until its entity tag changes. Requests for the same one at the same
 * time wait for one build, and a tenant has one build at a time.
 */
export class BuiltTexts {
  /** A request that waits for the build of another one is a hit: only misses build. */
  readonly use = new CacheUse(() => this.#texts.count);
  readonly #texts = new FairCache<BuiltText>(MAX_BYTES);
  readonly #builds = new Map<string, Promise<Buffer>>();
  readonly #queue = new FairQueue(BUILDS);

  /** The text, which `build` makes if it is not kept. 503 if too many are being built. */
  async get({ tenant, name, etag }: TextName, build: () => Promise<string>): Promise<Buffer> {
    const kept = this.#texts.get(tenant, name);
    const isKept = kept?.etag === etag;
    const key = `${tenant} ${name} ${etag}`;
    const pending = this.#builds.get(key);
    this.use.note(isKept || pending !== undefined);
    if (isKept) return kept.text;
    if (pending) return pending;
    const started = this.#build(tenant, build);
    this.#builds.set(key, started);
    try {
      const text = await started;
      this.#texts.set(tenant, name, { etag, text }, text.length);
      return text;
    } finally {
      this.#builds.delete(key);
    }
  }

  async #build(tenant: string, build: () => Promise<string>): Promise<Buffer> {
    try {
      return await this.#queue.run(tenant, async () => Buffer.from(await build()));
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      throw new HttpError(503, 'overloaded', 'Too many feeds and sitemaps are being built.', {
        headers: { 'Retry-After': '5' },
        cause: error,
      });
    }
  }
}

/** The parts of a text, in the order in which they are sent. */
export async function* partsOf(text: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; start += PART) yield text.subarray(start, start + PART);
}
