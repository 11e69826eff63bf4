import { HttpError, invalidField } from '@tessera/http-kit';
import type {
  ActivityFilter,
  ActivityOrder,
  ActivityPage,
  ActivityReader,
  ActivityRepository,
  Entry,
} from './activity.repository.ts';

/** 503: as many exports as may hold a connection are under way. */
const overloaded = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many exports are under way. Try again.', {
    headers: { 'Retry-After': '10' },
  });

const demandSpan = ({ from, to }: ActivityFilter): void => {
  if (from && to && to < from) throw invalidField('to', 'to must not be before from');
};

/** What users did, for those who administer them. */
export class ActivityService {
  readonly #repository: ActivityRepository;
  readonly #most: number;
  #underWay = 0;

  /** `most`: exports at once; each holds a connection for as long as its client takes. */
  constructor(repository: ActivityRepository, most: number) {
    this.#repository = repository;
    this.#most = most;
  }

  async list(asked: ActivityPage): Promise<{ entries: Entry[]; page: number; total: number }> {
    demandSpan(asked);
    return this.#repository.list(asked);
  }

  /** Everything that fits, some hundred at a time. 503 where too many exports are under way. */
  export(
    filter: ActivityFilter,
    reader: ActivityReader,
    order: ActivityOrder,
  ): AsyncGenerator<Entry[]> {
    demandSpan(filter);
    return this.#counted(this.#repository.batches(filter, reader, order));
  }

  async *#counted(batches: AsyncGenerator<Entry[]>): AsyncGenerator<Entry[]> {
    if (this.#underWay >= this.#most) throw overloaded();
    this.#underWay += 1;
    try {
      yield* batches;
    } finally {
      this.#underWay -= 1;
    }
  }
}
