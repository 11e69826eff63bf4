import { CacheUse } from '@tessera/telemetry/metrics';
import { LRUCache } from 'lru-cache';

interface BuiltText {
  readonly etag: string;
  readonly text: string;
}

/** The most characters that are kept. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * Feeds and sitemaps that were built before, each until its entity tag changes. Requests for the same one at the same
 * time wait for one build.
 */
export class BuiltTexts {
  /** A request that waits for the build of another one is a hit: only misses build. */
  readonly use = new CacheUse(() => this.#texts.size);
  readonly #texts = new LRUCache<string, BuiltText>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ text }) => text.length + 1,
  });
  readonly #builds = new Map<string, Promise<string>>();

  /** The text under a key with this entity tag, which `build` makes if it is not kept. */
  async get(key: string, etag: string, build: () => Promise<string>): Promise<string> {
    const kept = this.#texts.get(key);
    const isKept = kept?.etag === etag;
    const name = `${key} ${etag}`;
    const pending = this.#builds.get(name);
    this.use.note(isKept || pending !== undefined);
    if (isKept) return kept.text;
    if (pending) return pending;
    const started = build();
    this.#builds.set(name, started);
    try {
      const text = await started;
      this.#texts.set(key, { etag, text });
      return text;
    } finally {
      this.#builds.delete(name);
    }
  }
}
