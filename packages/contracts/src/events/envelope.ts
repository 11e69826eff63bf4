import {
  type Field,
  type FieldErrors,
  oneOf,
  openShape,
  text,
  time,
  validate,
} from '@tessera/fields';

/** CloudEvents 1.0 in structured JSON, as it is published. */
export type CloudEvent<Type extends string, Data> = {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: Type;
  /** What the event is about: the key of its record. */
  readonly subject: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Data;
};

export type Parsed<Event> =
  | { readonly ok: true; readonly event: Event }
  | { readonly ok: false; readonly reason: string };

const envelope = {
  specversion: oneOf('1.0'),
  id: text(200),
  source: text(200),
  subject: text(200),
  time: time(),
  datacontenttype: oneOf('application/json'),
};

/** The whole event; accepts extension attributes, as CloudEvents requires. */
export const eventField = (type: Field, data: Field): Field =>
  openShape({ ...envelope, type, data });

const parseJson = (value: string): unknown => {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
};

const reasonOf = (errors: FieldErrors): string => Object.values(errors).flat().join('; ');

export const refused = (reason: string): { readonly ok: false; readonly reason: string } => ({
  ok: false,
  reason,
});

/** Parses the value of a record. The reason of a failure names the invalid fields and contains no values. */
export const parseCloudEvent = <Event extends CloudEvent<string, unknown>>(
  field: Field,
  value: string,
): Parsed<Event> => {
  const json = parseJson(value);
  if (json === undefined) return refused('The value is not JSON.');
  const result = validate(field, json, 'event');
  if (!result.ok) return refused(reasonOf(result.errors));
  const { time: moment, ...rest } = result.value as Omit<Event, 'time'> & { time: Date };
  return { ok: true, event: { ...rest, time: moment.toISOString() } as unknown as Event };
};
