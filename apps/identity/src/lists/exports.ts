import { HttpError } from '@tessera/http-kit';
import pLimit, { type LimitFunction } from 'p-limit';
import { InFlight } from '../security/in-flight.ts';

/** 429: the caller has as many exports under way as one caller may. */
const tooMany = (): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many of your exports are under way. Try again later.', {
    headers: { 'Retry-After': '10' },
  });

/** Milliseconds that an export may take: one that nobody reads on must end some time. */
const DEADLINE = 30 * 60_000;

interface Most {
  /** Exports at once of one caller. */
  readonly ofCaller: number;
  /** Batches that are read at once, each on a connection of its own. */
  readonly reads: number;
}

/** What all exports of this process share, so that most connections are left for everybody else. */
export class Exports {
  readonly #underWay: InFlight;
  readonly #turn: LimitFunction;

  constructor({ ofCaller, reads }: Most) {
    this.#underWay = new InFlight(ofCaller);
    this.#turn = pLimit(reads);
  }

  /** Reads one batch, when it is its turn. */
  read<T>(batch: () => Promise<T>): Promise<T> {
    return this.#turn(batch);
  }

  /** The parts of one export of a caller. 429 where the caller has too many under way. */
  async *counted<T>(callerId: string, parts: AsyncIterable<T>): AsyncGenerator<T> {
    if (!this.#underWay.begin(callerId)) throw tooMany();
    const deadline = performance.now() + DEADLINE;
    try {
      for await (const part of parts) {
        yield part;
        if (performance.now() > deadline) throw new Error('The export took too long.');
      }
    } finally {
      this.#underWay.end(callerId);
    }
  }
}
