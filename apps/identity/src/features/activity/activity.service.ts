import { HttpError, invalidField } from '@tessera/http-kit';
import { InFlight } from '../../in-flight.ts';
import type {
  ActivityFilter,
  ActivityOrder,
  ActivityPage,
  ActivityReader,
  ActivityRepository,
  Entry,
} from './activity.repository.ts';

/** 429: the caller has as many exports under way as one caller may. */
const tooMany = (): HttpError =>
  new HttpError(429, 'rate_limited', 'Too many of your exports are under way. Try again later.', {
    headers: { 'Retry-After': '10' },
  });

/** Milliseconds that an export may take: one that nobody reads on must end some time. */
const DEADLINE = 30 * 60_000;

const demandSpan = ({ from, to }: ActivityFilter): void => {
  if (from && to && to < from) throw invalidField('to', 'to must not be before from');
};

/** What users did, for those who administer them. */
export class ActivityService {
  readonly #repository: ActivityRepository;
  /** Exports under way by caller. */
  readonly #underWay: InFlight;

  /** `most`: exports at once of one caller. */
  constructor(repository: ActivityRepository, most: number) {
    this.#repository = repository;
    this.#underWay = new InFlight(most);
  }

  async list(asked: ActivityPage): Promise<{ entries: Entry[]; page: number; total: number }> {
    demandSpan(asked);
    return this.#repository.list(asked);
  }

  /** Everything that fits, some hundred at a time. 429 where the caller has too many exports under way. */
  export(
    callerId: string,
    filter: ActivityFilter,
    reader: ActivityReader,
    order: ActivityOrder,
  ): AsyncGenerator<Entry[]> {
    demandSpan(filter);
    return this.#counted(callerId, this.#repository.batches(filter, reader, order));
  }

  async *#counted(callerId: string, batches: AsyncGenerator<Entry[]>): AsyncGenerator<Entry[]> {
    if (!this.#underWay.begin(callerId)) throw tooMany();
    const deadline = performance.now() + DEADLINE;
    try {
      for await (const batch of batches) {
        yield batch;
        if (performance.now() > deadline) throw new Error('The export took too long.');
      }
    } finally {
      this.#underWay.end(callerId);
    }
  }
}
