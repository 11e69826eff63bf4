import { type Exports, invalidField } from '@tessera/http-kit';
import type {
  ActivityFilter,
  ActivityOrder,
  ActivityPage,
  ActivityReader,
  ActivityRepository,
  Entry,
} from './activity.repository.ts';

const requireValidPeriod = ({ from, to }: ActivityFilter): void => {
  if (from && to && to < from) throw invalidField('to', 'to must not be before from');
};

/** Lists and exports the activity log for administrators. */
export class ActivityService {
  readonly #repository: ActivityRepository;
  readonly #exports: Exports;

  constructor(repository: ActivityRepository, exports: Exports) {
    this.#repository = repository;
    this.#exports = exports;
  }

  async list(query: ActivityPage): Promise<{ entries: Entry[]; page: number; total: number }> {
    requireValidPeriod(query);
    return this.#repository.list(query);
  }

  /** All entries that match, some hundred at a time. 429 where too many exports of the caller are running. */
  export(
    callerId: string,
    filter: ActivityFilter,
    reader: ActivityReader,
    order: ActivityOrder,
  ): AsyncGenerator<readonly Entry[]> {
    requireValidPeriod(filter);
    return this.#exports.counted(
      callerId,
      this.#repository.batches(callerId, filter, reader, order),
    );
  }
}
