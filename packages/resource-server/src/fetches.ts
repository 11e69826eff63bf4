import type { Answer } from './identity-client.ts';

/** Whether an eviction concerns a value. */
export type Concerns<T> = (value: T) => boolean;

const ATTEMPTS = 3;

/**
 * Asks identity in a way that no eviction is lost on: an answer may tell what was true before an event
 * that came while it travelled, so such an answer is thrown away and asked for again.
 */
export class Fetches<T> {
  readonly #underWay = new Set<Concerns<T>[]>();
  readonly #shared = new Map<string, Promise<Answer<T>>>();

  /** To be told of every eviction, besides the cache itself. */
  evicted(concerns: Concerns<T>): void {
    for (const evictions of this.#underWay) evictions.push(concerns);
  }

  /**
   * Gives an answer that no eviction has overtaken. `accept` sees it in the same tick, so that it can be
   * kept before the next eviction, and may refuse it as too old.
   */
  async fetch(ask: () => Promise<Answer<T>>, accept: (value: T) => boolean): Promise<Answer<T>> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const evictions: Concerns<T>[] = [];
      this.#underWay.add(evictions);
      const answer = await ask().finally(() => this.#underWay.delete(evictions));
      if (answer.outcome !== 'answered') return answer;
      const { value } = answer;
      if (!evictions.some((concerns) => concerns(value)) && accept(value)) return answer;
    }
    const cause = new Error(`${ATTEMPTS} answers of identity in a row were overtaken by events.`);
    return { outcome: 'unavailable', cause };
  }

  /** Lets all who ask with the same key while an answer travels wait for that one. */
  share(key: string, run: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const shared = this.#shared.get(key);
    if (shared) return shared;
    const flight = run().finally(() => this.#shared.delete(key));
    this.#shared.set(key, flight);
    return flight;
  }
}
