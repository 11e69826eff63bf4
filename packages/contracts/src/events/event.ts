import { type Field, type JsonSchema, oneOf } from '@tessera/fields';
import { type CloudEvent, eventField, type Parsed, parseCloudEvent, refused } from './envelope.ts';
import { type EventData, type EventType, eventTypes, kinds } from './kinds.ts';

/** An event of identity. `type` is also its topic, and determines the type of `data`. */
export type IdentityEvent<T extends EventType = EventType> = {
  [K in T]: CloudEvent<K, EventData<K>>;
}[T];

export type ParsedEvent = Parsed<IdentityEvent>;

const fieldOf = (type: EventType): Field => eventField(oneOf(type), kinds[type].data as Field);

const fields = new Map<string, Field>(eventTypes.map((type) => [type, fieldOf(type)]));

/** JSON Schema of the whole event. */
export const eventSchema = (type: EventType): JsonSchema => fieldOf(type).json;

const keyOf = (type: EventType, data: unknown): string | undefined =>
  kinds[type].key(data as never);

/** The key of the event's record: its tenant, or its user if there is no tenant. */
export const eventKey = ({ subject }: IdentityEvent): string => subject;

/** Parses the value of a record. The reason of a failure names the invalid fields and contains no values. */
export const parseEvent = (topic: string, text: string): ParsedEvent => {
  const field = fields.get(topic);
  if (!field) return refused('The topic is not one of identity.');
  const parsed = parseCloudEvent<IdentityEvent>(field, text);
  if (!parsed.ok) return parsed;
  const { event } = parsed;
  if (eventKey(event) !== keyOf(event.type, event.data)) {
    return refused('subject does not match the data');
  }
  return parsed;
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
