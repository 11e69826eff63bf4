import { hash } from 'node:crypto';

/** A set of texts that needs little memory: it keeps 52 bits of the hash of each. */
export class SeenValues {
  readonly #hashes = new Set<number>();

  add(value: string): void {
    this.#hashes.add(SeenValues.#hash(value));
  }

  has(value: string): boolean {
    return this.#hashes.has(SeenValues.#hash(value));
  }

  static #hash(value: string): number {
    return Number.parseInt(hash('sha256', value, 'hex').slice(0, 13), 16);
  }
}
