import { type Field, named, type Out, shape, text } from '@tessera/fields';
import type { Request } from 'express';

/** A response that is a stream of server-sent events: event name -> shape of its data. */
export interface EventStream<E extends Events = Events> {
  readonly events: E;
}
type Events = Readonly<Record<string, Field>>;

/** Why the service ends a stream: an error code and its message, as in an error response. */
export const StreamClosed = named('StreamClosed', shape({ error: text(100), message: text(1000) }));

/** The last event of a stream that the service ends for a reason; every stream can have it. */
export interface ClosedEvent {
  readonly event: 'closed';
  readonly id?: string;
  readonly data: Out<typeof StreamClosed>;
}

/** Creates the last event of a stream. */
export const closedEvent = (error: string, message: string): ClosedEvent => ({
  event: 'closed',
  data: { error, message },
});

/**
 * Declares a response that is a stream of server-sent events (WHATWG HTML section 9.2) with JSON data. The event
 * `closed` is declared for every stream.
 */
export const eventStream = <const E extends Events>(
  events: E,
): EventStream<E & { readonly closed: typeof StreamClosed }> => ({
  events: { ...events, closed: StreamClosed },
});

/** One event. If the same object is sent to several streams, it is serialised once. */
export interface NamedEvent {
  readonly event: string;
  /** The position from which a reconnecting client continues; must not contain line breaks. */
  readonly id?: string;
  readonly data: unknown;
}

/** Moves the client's last event id forward without an event, so that a quiet stream can be resumed as well. */
export interface PositionMark {
  readonly id: string;
}

export type ServerSentEvent = NamedEvent | PositionMark;

/** The events that a declaration allows. */
export type EventOf<E extends Events> =
  | {
      [K in keyof E & string]: {
        readonly event: K;
        readonly id?: string;
        readonly data: Out<E[K]>;
      };
    }[keyof E & string]
  | PositionMark;

/**
 * Provides the events of a stream, which ends when the source ends. `signal` aborts when the stream has ended.
 */
export interface EventSource<E extends ServerSentEvent = ServerSentEvent> {
  (signal: AbortSignal): AsyncIterable<E>;
  /**
   * Gets the caller with their present access, whenever that was checked again. For events that need more than the
   * permission of the route.
   */
  rechecked?(caller: never): void;
}

/** The id of the last event that a reconnecting client received; undefined if it sent none. */
export const lastEventId = (req: Request): string | undefined => {
  const id = req.get('last-event-id');
  return id === '' ? undefined : id;
};
