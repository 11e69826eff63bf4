import {
  type Field,
  type FieldErrors,
  type JsonSchema,
  oneOf,
  openShape,
  text,
  time,
  validate,
} from '@tessera/fields';
import { type EventData, type EventType, eventTypes, kinds } from './kinds.ts';

/** CloudEvents 1.0 in structured JSON, as it is published. */
type CloudEvent<T extends EventType> = {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: T;
  /** The tenant or user that it is about: the key of its record. */
  readonly subject: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: EventData<T>;
};

/** An event of identity. `type` is also its topic, and determines the type of `data`. */
export type IdentityEvent<T extends EventType = EventType> = { [K in T]: CloudEvent<K> }[T];

export type ParsedEvent =
  | { readonly ok: true; readonly event: IdentityEvent }
  | { readonly ok: false; readonly reason: string };

const envelope = {
  specversion: oneOf('1.0'),
  id: text(200),
  source: text(200),
  subject: text(200),
  time: time(),
  datacontenttype: oneOf('application/json'),
};

/** Accepts extension attributes, as CloudEvents requires. */
const fieldOf = (type: EventType): Field =>
  openShape({ ...envelope, type: oneOf(type), data: kinds[type].data as Field });

const fields = new Map<string, Field>(eventTypes.map((type) => [type, fieldOf(type)]));

/** JSON Schema of the whole event. */
export const eventSchema = (type: EventType): JsonSchema => fieldOf(type).json;

const keyOf = (type: EventType, data: unknown): string | undefined =>
  kinds[type].key(data as never);

/** The key of the event's record: its tenant, or its user if there is no tenant. */
export const eventKey = ({ subject }: IdentityEvent): string => subject;

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const reasonOf = (errors: FieldErrors): string => Object.values(errors).flat().join('; ');

const refused = (reason: string): ParsedEvent => ({ ok: false, reason });

/** Parses the value of a record. The reason of a failure names the invalid fields and contains no values. */
export const parseEvent = (topic: string, text: string): ParsedEvent => {
  const field = fields.get(topic);
  if (!field) return refused('The topic is not one of identity.');
  const json = parseJson(text);
  if (json === undefined) return refused('The value is not JSON.');
  const result = validate(field, json, 'event');
  if (!result.ok) return refused(reasonOf(result.errors));
  const { time: moment, ...rest } = result.value as Omit<IdentityEvent, 'time'> & { time: Date };
  const event = { ...rest, time: moment.toISOString() } as IdentityEvent;
  if (eventKey(event) !== keyOf(event.type, event.data)) {
    return refused('subject does not match the data');
  }
  return { ok: true, event };
};

/**
 * Creates an event. Throws a TypeError if the data is invalid: that fails the transaction of the change, instead of
 * blocking the relay later.
 */
export const identityEvent = <T extends EventType>(
  type: T,
  data: EventData<T>,
  { id, time: moment }: { readonly id: string; readonly time: Date },
): IdentityEvent<T> => {
  const parsed = parseEvent(
    type,
    JSON.stringify({
      specversion: '1.0',
      id,
      source: '/tessera/identity',
      type,
      subject: keyOf(type, data),
      time: moment,
      datacontenttype: 'application/json',
      data,
    }),
  );
  if (!parsed.ok) throw new TypeError(`Invalid ${type}: ${parsed.reason}`);
  return parsed.event as IdentityEvent<T>;
};
