import { LRUCache } from 'lru-cache';

/** How many mails one process sends at once. */
export const PLACES = 10;
/** How many of them may be for one domain; a further domain has at most half of the others, and so on. */
export const SHARE = PLACES / 2;

const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 60_000;
const FIRST_DELAY_SECONDS = 60;
const MAX_DELAY_SECONDS = 3600;
const MAX_SILENT_DOMAINS = 1000;

interface Silence {
  readonly attempts: number;
  /** Mails that were sent at the same time fail together, and count once until then. */
  readonly until: number;
}

/**
 * The places for mails that are being sent at the same time. A domain whose mails got no answer has one place until one
 * does; while the mail server is unavailable, one mail at a time finds out whether it is back.
 */
export class SendingPlaces {
  readonly #taken = new Map<string, number>();
  /** Domains whose last mails got no answer. */
  readonly #silent = new LRUCache<string, Silence>({ max: MAX_SILENT_DOMAINS });
  #total = 0;
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  /** How many mails may be started now. */
  get free(): number {
    if (this.#isPaused) return 0;
    return Math.max(0, (this.#failures > 0 ? 1 : PLACES) - this.#total);
  }

  /** How many places of a domain's share are taken, by domain. */
  get taken(): Readonly<Record<string, number>> {
    const taken = new Map(this.#taken);
    // While the mail server is unavailable, a mail to any domain may find out whether it is back.
    if (this.#failures > 0) return Object.fromEntries(taken);
    for (const domain of this.#silent.keys()) {
      taken.set(domain, (taken.get(domain) ?? 0) + SHARE - 1);
    }
    return Object.fromEntries(taken);
  }

  enter(domain: string): void {
    this.#total += 1;
    this.#taken.set(domain, (this.#taken.get(domain) ?? 0) + 1);
  }

  leave(domain: string): void {
    this.#total -= 1;
    const left = (this.#taken.get(domain) ?? 0) - 1;
    if (left > 0) this.#taken.set(domain, left);
    else this.#taken.delete(domain);
  }

  /** A mail was accepted or refused. */
  answered(domain: string): void {
    this.#failures = 0;
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    this.#silent.delete(domain);
  }

  /**
   * A mail got no answer; returns for how many seconds mails to its domain should wait, or undefined if an earlier failure made
   * them wait already: mails that were enqueued since then may find out whether it answers again.
   */
  unanswered(domain: string): number | undefined {
    this.#failures = 0;
    const now = performance.now();
    const { attempts, until } = this.#silent.get(domain) ?? { attempts: 0, until: now };
    if (now < until) return undefined;
    const seconds = Math.min(FIRST_DELAY_SECONDS * 2 ** attempts, MAX_DELAY_SECONDS);
    this.#silent.set(domain, { attempts: attempts + 1, until: now + 1000 * seconds });
    return seconds;
  }

  /** The mail server did not take a mail; returns whether this starts a pause. */
  unavailable(): boolean {
    // Mails that were sent at the same time fail together.
    if (this.#isPaused) return false;
    this.#pausedUntil =
      performance.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    return true;
  }

  get #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }
}
