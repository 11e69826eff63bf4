import type { ServerSentEvent } from './event-stream.ts';

/** An event as it is sent. */
export interface SerialisedEvent {
  readonly text: string;
  /** Its size in UTF-8. */
  readonly bytes: number;
}

const LINE_BREAK = /[\r\n\0]/;

const known = new WeakMap<ServerSentEvent, SerialisedEvent>();

/** JSON text contains no line breaks, so the data is one line. */
const textOf = (event: ServerSentEvent): string => {
  const name = 'event' in event ? event.event : '';
  if (LINE_BREAK.test(`${event.id ?? ''}${name}`)) {
    throw new Error('The name or the id of an event contains a line break.');
  }
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return 'event' in event
    ? `${id}event: ${name}\ndata: ${JSON.stringify(event.data)}\n\n`
    : `${id}\n`;
};

/** Serialises an event (WHATWG HTML section 9.2), once for all streams that it is sent to. */
export const serialised = (event: ServerSentEvent): SerialisedEvent => {
  const found = known.get(event);
  if (found) return found;
  const text = textOf(event);
  const made = { text, bytes: Buffer.byteLength(text) };
  known.set(event, made);
  return made;
};
