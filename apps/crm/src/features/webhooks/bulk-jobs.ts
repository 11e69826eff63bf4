import {
  defineJob,
  type EnqueueOptions,
  handleJob,
  type JobHandler,
  type JobQueue,
} from '@tessera/background-work/jobs';
import { oneOf, shape, text, uuid } from '@tessera/fields';
import { invalidField } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import {
  type Cursor,
  countRange,
  findReplayed,
  hasWaiting,
  type ReplayedRange,
  replayDeliveries,
  stopBatch,
} from './deliveries.repository.ts';
import { findEndpoint, peekEndpoint } from './endpoints.repository.ts';
import { selectedTypes } from './event-selectors.ts';
import type { Wake } from './wake.ts';

/** How many deliveries one transaction changes, so that nothing waits long for the endpoint. */
const BATCH = 1000;

/** How many deliveries one request may replay. */
const MAX_REPLAY = 1_000_000;

/** How many deliveries of an endpoint may wait before its replays do: they leave room for new events. */
const REPLAYED_AHEAD = 10_000;
/** How long a replay waits then. */
const REPLAY_WAIT_MS = 10_000;
/** How many replays of a tenant may wait. */
const MAX_REPLAYS = 20;

const options = { backoffSeconds: 5, timeLimitSeconds: 600 };
const moment = text(40);

/** Ends the deliveries that waited when an endpoint was disabled or deleted. */
const stopJob = defineJob(
  'webhook_stop',
  shape({ tenant_id: uuid(), endpoint_id: uuid(), reason: text(200), before: moment }),
  options,
);

/** Replays the deliveries of a period after a cursor. */
const replayJob = defineJob(
  'webhook_replay',
  shape({
    tenant_id: uuid(),
    endpoint_id: uuid(),
    from: moment,
    to: moment,
    state: oneOf('failed', 'succeeded'),
    after: moment,
    after_id: uuid(),
  }),
  { ...options, maxWaiting: MAX_REPLAYS, hasSlices: true },
);

/** What a replay has selected. */
export interface SelectedReplay {
  readonly range: ReplayedRange;
  readonly first: readonly Cursor[];
  /** The number of deliveries after the first ones. */
  readonly further: number;
}

/** Changes many deliveries of an endpoint: the first in the caller's transaction, the others in a job. */
export interface BulkChanges {
  stop(db: TenantDb, endpointId: string, reason: string): Promise<void>;
  /** Finds what is to be replayed, before the endpoint is locked: this may take long. 422 if there are too many. */
  selectReplay(
    db: TenantDb,
    endpointId: string,
    range: ReplayedRange,
    selectors: readonly string[],
  ): Promise<SelectedReplay>;
  /**
   * Replays what was selected, as far as the endpoint still selects the types, and returns the number. The endpoint must be
   * locked.
   */
  replay(
    db: TenantDb,
    endpointId: string,
    selected: SelectedReplay,
    selectors: readonly string[],
  ): Promise<number>;
}

type Enqueue = Pick<JobQueue, 'enqueue'>;

const enqueueReplay = (
  jobs: Enqueue,
  db: TenantDb,
  endpointId: string,
  { from, to, state }: ReplayedRange,
  { at, id }: Cursor,
  options: EnqueueOptions = {},
): Promise<unknown> => {
  const payload = {
    tenant_id: db.tenantId,
    endpoint_id: endpointId,
    from: from.toISOString(),
    to: to.toISOString(),
    state,
    after: at.toISOString(),
    after_id: id,
  };
  return jobs.enqueue(db, replayJob, payload, options);
};

export const createBulkChanges = (
  jobs: Enqueue,
  batch: number = BATCH,
  mostReplayed: number = MAX_REPLAY,
): BulkChanges => ({
  async stop(db, endpointId, reason) {
    const { stopped, at } = await stopBatch(db, endpointId, reason, batch);
    if (stopped < batch) return;
    await jobs.enqueue(db, stopJob, {
      tenant_id: db.tenantId,
      endpoint_id: endpointId,
      reason,
      before: at.toISOString(),
    });
  },

  async selectReplay(db, endpointId, range, selectors) {
    const types = selectedTypes(selectors);
    const first = await findReplayed(db, endpointId, { range, types }, batch);
    const after = first.at(-1);
    if (!after || first.length < batch) return { range, first, further: 0 };
    const rest = { range, types, after };
    const further = await countRange(db, endpointId, rest, mostReplayed - batch + 1);
    if (batch + further > mostReplayed) {
      const most = mostReplayed.toLocaleString('en');
      throw invalidField(
        'from',
        `from must select at most ${most} deliveries: replay shorter periods`,
      );
    }
    return { range, first, further };
  },

  async replay(db, endpointId, { range, first, further }, selectors) {
    const replayed = await replayDeliveries(db, first, range.state, selectedTypes(selectors));
    const last = first.at(-1);
    if (last && further > 0) await enqueueReplay(jobs, db, endpointId, range, last);
    return replayed + further;
  },
});

/** The handlers of the jobs. */
export const bulkHandlers = (
  { database, jobs, wake }: { database: Pick<Database, 'forTenant'>; jobs: Enqueue; wake: Wake },
  batch: number = BATCH,
): readonly JobHandler[] => [
  handleJob(stopJob, async ({ tenant_id, endpoint_id, reason, before }, { stopping }) => {
    const stopNext = (): Promise<boolean> =>
      database.forTenant(tenant_id).transaction(async (db) => {
        const endpoint = await findEndpoint(db, endpoint_id);
        // An endpoint that is enabled again keeps what is sent since then.
        const until = endpoint?.is_enabled ? new Date(before) : undefined;
        const { stopped } = await stopBatch(db, endpoint_id, reason, batch, until);
        return stopped === batch;
      });
    // What is left is found again by the next attempt.
    while (await stopNext()) stopping.throwIfAborted();
  }),

  handleJob(replayJob, async ({ tenant_id, endpoint_id, state, ...times }) => {
    const range = { from: new Date(times.from), to: new Date(times.to), state };
    const after = { at: new Date(times.after), id: times.after_id };
    // The rest is a further job, in the same transaction: no delivery is replayed twice if this process is killed.
    await database.forTenant(tenant_id).transaction(async (db) => {
      const seen = await peekEndpoint(db, endpoint_id);
      if (!seen?.is_enabled) return;
      if (await hasWaiting(db, endpoint_id, REPLAYED_AHEAD)) {
        const runAt = new Date(Date.now() + REPLAY_WAIT_MS);
        await enqueueReplay(jobs, db, endpoint_id, range, after, { isContinuation: true, runAt });
        return;
      }
      const selection = { range, types: selectedTypes(seen.event_types), after };
      const found = await findReplayed(db, endpoint_id, selection, batch);
      const last = found.at(-1);
      if (!last) return;
      const endpoint = await findEndpoint(db, endpoint_id);
      if (!endpoint?.is_enabled) return;
      await replayDeliveries(db, found, state, selectedTypes(endpoint.event_types));
      if (found.length === batch) {
        await enqueueReplay(jobs, db, endpoint_id, range, last, { isContinuation: true });
      }
      await wake(db, endpoint_id);
    });
  }),
];
