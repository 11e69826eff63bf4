import type { Field, Out } from '@tessera/fields';
import type { Request } from 'express';

/** An answer that is a stream of server-sent events: the shape of their data by the name of the event. */
export interface EventStream<E extends Events = Events> {
  readonly events: E;
}
type Events = Readonly<Record<string, Field>>;

/**
 * Declares an answer that is a stream of server-sent events (WHATWG HTML section 9.2), each with JSON as its data.
 */
export const eventStream = <const E extends Events>(events: E): EventStream<E> => ({ events });

/** One event. The same object sent to several streams is written as text once. */
export interface ServerSentEvent {
  readonly event: string;
  /** Where a client that reconnects continues; without line breaks. */
  readonly id?: string;
  readonly data: unknown;
}

/** The events that a declaration allows. */
export type EventOf<E extends Events> = {
  [K in keyof E & string]: { readonly event: K; readonly id?: string; readonly data: Out<E[K]> };
}[keyof E & string];

/** Where events come from. It ends the stream by ending; `signal` aborts when the stream has ended. */
export type EventSource<E extends ServerSentEvent = ServerSentEvent> = (
  signal: AbortSignal,
) => AsyncIterable<E>;

const LONGEST_ID = 200;

/** The id of the last event that a client saw, when it reconnects; undefined where there is none. */
export const lastEventId = (req: Request): string | undefined => {
  const id = req.get('last-event-id');
  return id === undefined || id === '' || id.length > LONGEST_ID ? undefined : id;
};
