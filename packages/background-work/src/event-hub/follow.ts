import type { EventQueue, PositionMark, ServerSentEvent } from '@tessera/http-kit';
import type { EventHub } from './event-hub.ts';
import type { HubEvent } from './event-topic.ts';

/** Stored events for one stream. */
export interface StoredEvents<S extends ServerSentEvent> {
  /** In order; only those that the stream delivers. */
  readonly events: readonly S[];
  /** The stream has everything up to this position. */
  readonly position: number;
  /** Whether there are more events after `position`. */
  readonly hasMore: boolean;
}

/** One stream: `E` is what the hub distributes, `S` what the client gets. */
export interface Follower<E extends HubEvent, S extends ServerSentEvent> {
  readonly topic: string;
  /** Where the events wait until the client reads them. */
  readonly queue: EventQueue<S | PositionMark>;
  /** Reads stored events after a position; undefined for a stream that begins now, which lacks none. */
  catchUp(after: number | undefined): Promise<StoredEvents<S>>;
  /** Adds a new event to the queue if the stream delivers it. */
  deliver(event: E): void;
}

/** Milliseconds between two marks, which keep the last event id of a quiet stream from becoming too old. */
const MARK_MS = 60_000;

/**
 * Yields the events of a stream after a position, without gap or duplicate: first the stored ones, as fast as the
 * client reads them, then the new ones from the queue.
 */
export async function* follow<E extends HubEvent, S extends ServerSentEvent>(
  hub: EventHub<E>,
  follower: Follower<E, S>,
  after: number | undefined,
): AsyncGenerator<S | PositionMark> {
  const { queue } = follower;
  let position = after;
  while (!queue.hasEnded) {
    // Subscribed before the last page is read: every event is in that page or received, and by its position
    // never both.
    let early: E[] | undefined = [];
    const caughtUp = (): number => position ?? 0;
    const subscription = hub.subscribe(follower.topic, (event) => {
      if (early) early.push(event);
      else if (event.position > caughtUp()) follower.deliver(event);
    });
    let marks: NodeJS.Timeout | undefined;
    try {
      // Without the database a subscription does not start, but streams end.
      await Promise.race([subscription.started, queue.ended]);
      if (queue.hasEnded) break;
      const stored = await follower.catchUp(position);
      const { position: begin } = stored;
      position = begin;
      if (!stored.hasMore) {
        const received = early;
        early = undefined;
        for (const event of received) if (event.position > stored.position) follower.deliver(event);
        yield* stored.events;
        marks = setInterval(() => {
          // Not `stored`, whose events would stay in memory for as long as the stream is open.
          queue.push({ id: `${Math.max(subscription.position(), begin)}` });
        }, MARK_MS);
        yield* queue;
        return;
      }
      subscription.close();
      yield* stored.events;
    } finally {
      clearInterval(marks);
      subscription.close();
    }
  }
  yield* queue;
}
