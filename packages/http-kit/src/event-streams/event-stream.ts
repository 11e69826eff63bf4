import type { Field, Out } from '@tessera/fields';
import type { Request } from 'express';

/** A response that is a stream of server-sent events: event name -> shape of its data. */
export interface EventStream<E extends Events = Events> {
  readonly events: E;
}
type Events = Readonly<Record<string, Field>>;

/** Declares a response that is a stream of server-sent events (WHATWG HTML section 9.2) with JSON data. */
export const eventStream = <const E extends Events>(events: E): EventStream<E> => ({ events });

/** One event. If the same object is sent to several streams, it is serialised once. */
export interface ServerSentEvent {
  readonly event: string;
  /** The position from which a reconnecting client continues; must not contain line breaks. */
  readonly id?: string;
  readonly data: unknown;
}

/** The events that a declaration allows. */
export type EventOf<E extends Events> = {
  [K in keyof E & string]: { readonly event: K; readonly id?: string; readonly data: Out<E[K]> };
}[keyof E & string];

/**
 * Provides the events of a stream, which ends when the source ends. `signal` aborts when the stream has ended.
 */
export type EventSource<E extends ServerSentEvent = ServerSentEvent> = (
  signal: AbortSignal,
) => AsyncIterable<E>;

const MAX_ID_LENGTH = 200;

/** The id of the last event that a reconnecting client received; undefined if it sent none. */
export const lastEventId = (req: Request): string | undefined => {
  const id = req.get('last-event-id');
  return id === undefined || id === '' || id.length > MAX_ID_LENGTH ? undefined : id;
};
