import { eventSchema, identityEvent } from './event.ts';
import { type EventType, eventTypes, kinds } from './kinds.ts';

/** The topic for records of a topic that cannot be parsed (decision E3). */
export const deadLetterTopic = (topic: string): string => `${topic}.dead-letter`;

export const KAFKA_BINDING_VERSION = '0.5.0';

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
  bindings: { kafka: { key: kinds[type].keyField.json, bindingVersion: KAFKA_BINDING_VERSION } },
  examples: [{ name: 'example', payload: exampleOf(type) }],
});

/** The message of every dead-letter topic. */
export const deadLetterMessage = {
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
      bindingVersion: KAFKA_BINDING_VERSION,
    },
  },
};

const entries = (of: (type: EventType) => [string, object]): Record<string, object> =>
  Object.fromEntries(eventTypes.map(of));

/** The channel of the records of a topic that could not be parsed, by its name. */
export const deadLetterChannel = (topic: string): [string, object] => [
  deadLetterTopic(topic),
  {
    address: deadLetterTopic(topic),
    summary: `Records of ${topic} that a consumer could not parse.`,
    messages: { record: { $ref: '#/components/messages/dead-letter' } },
  },
];

/** The beginning of a document; `about` says what is special about these events. */
export const describedInfo = (title: string, about: string) => ({
  asyncapi: '3.0.0',
  info: {
    title,
    version: '1.0.0',
    description:
      `CloudEvents 1.0 in structured JSON. ${about} Records with the same key keep their order; any record may ` +
      'be delivered more than once. Consumers must ignore unknown fields.',
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  defaultContentType: 'application/cloudevents+json',
});

/** The AsyncAPI 3 document of identity's events, generated from the definitions that validate them. */
export const asyncapiDocument = () => ({
  ...describedInfo('Events of identity', 'One topic for each kind.'),
  channels: {
    ...entries((type) => [
      type,
      {
        address: type,
        summary: kinds[type].summary,
        messages: { event: { $ref: `#/components/messages/${type}` } },
      },
    ]),
    ...entries((type) => deadLetterChannel(type)),
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
      'dead-letter': deadLetterMessage,
    },
  },
});
