import { eventSchema, identityEvent } from './event.ts';
import { type EventType, eventTypes, kinds } from './kinds.ts';

/** The topic for records of a topic that cannot be parsed (decision E3). */
export const deadLetterTopic = (topic: string): string => `${topic}.dead-letter`;

const BINDING_VERSION = '0.5.0';

const exampleOf = (type: EventType): object =>
  identityEvent(type, kinds[type].example as never, {
    id: '01980a5d-c2d4-7a31-8e5f-0b1c2d3e4f50',
    time: new Date('2026-01-31T12:00:00.000Z'),
  });

const message = (type: EventType): object => ({
  name: type,
  title: type,
  summary: kinds[type].summary,
  contentType: 'application/cloudevents+json',
  payload: eventSchema(type),
  bindings: { kafka: { key: kinds[type].keyField.json, bindingVersion: BINDING_VERSION } },
  examples: [{ name: 'example', payload: exampleOf(type) }],
});

const deadLetter = {
  name: 'dead-letter',
  title: 'Dead letter',
  summary: 'The value of a record that could not be parsed, byte for byte.',
  contentType: 'application/octet-stream',
  payload: { type: 'string', format: 'binary' },
  bindings: {
    kafka: {
      key: {
        type: 'string',
        description: 'Topic, partition, and offset of the record: all replicas write the same key.',
      },
      bindingVersion: BINDING_VERSION,
    },
  },
};

const entries = <T>(of: (type: EventType) => [string, T]): Record<string, T> =>
  Object.fromEntries(eventTypes.map(of));

/** The AsyncAPI 3 document of identity's events, generated from the definitions that validate them. */
export const asyncapiDocument = (): object => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Events of identity',
    version: '1.0.0',
    description:
      'CloudEvents 1.0 in structured JSON, one topic for each kind. Records with the same key keep their ' +
      'order; any record may be delivered more than once. Consumers must ignore unknown fields.',
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  defaultContentType: 'application/cloudevents+json',
  channels: {
    ...entries((type) => [
      type,
      {
        address: type,
        summary: kinds[type].summary,
        messages: { event: { $ref: `#/components/messages/${type}` } },
      },
    ]),
    ...entries((type) => [
      deadLetterTopic(type),
      {
        address: deadLetterTopic(type),
        summary: `Records of ${type} that a consumer could not parse.`,
        messages: { record: { $ref: '#/components/messages/dead-letter' } },
      },
    ]),
  },
  operations: entries((type) => [
    `publish.${type}`,
    {
      action: 'send',
      channel: { $ref: `#/channels/${type}` },
      messages: [{ $ref: `#/channels/${type}/messages/event` }],
      summary: `Published through the outbox after: ${kinds[type].summary}`,
    },
  ]),
  components: {
    messages: {
      ...entries((type) => [type, message(type)]),
      'dead-letter': deadLetter,
    },
  },
});
