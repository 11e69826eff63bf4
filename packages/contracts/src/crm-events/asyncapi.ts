import { described, text } from '@tessera/fields';
import {
  asyncapiDocument,
  deadLetterChannel,
  deadLetterMessage,
  describedInfo,
  KAFKA_BINDING_VERSION,
} from '../events/asyncapi.ts';
import { crmEvent, crmEventKey, crmEventSchema } from './event.ts';
import {
  type CrmEventResource,
  crmEventResourceNames,
  crmEventResources,
  crmEventTypesOf,
  crmTopicOf,
} from './resources.ts';

const TENANT = '01980a5d-ac96-774b-bcce-b302099a8057';
const RECORD = '01980a5d-b0c1-7d52-9f0e-6a2d7e4c1b93';

const key = described(
  text(200),
  'The tenant, a slash, and the record',
  crmEventKey({ tenant_id: TENANT, record_id: RECORD }),
).json;

const exampleOf = (resource: CrmEventResource): object => {
  const types = crmEventTypesOf(resource);
  const type = types[1] ?? types[0];
  if (type === undefined) throw new Error(`${resource} has no event type`);
  const actor = {
    type: 'user',
    user_id: '01980a5d-b0c1-7d52-9f0e-6a2d7e4c1b94',
  } as const;
  return crmEvent(
    type,
    { tenant_id: TENANT, record_id: RECORD, version: 2, changed_fields: ['name'], actor },
    { id: '01980a5d-c2d4-7a31-8e5f-0b1c2d3e4f50', time: new Date('2026-01-31T12:00:00.000Z') },
  );
};

const message = (resource: CrmEventResource): object => ({
  name: crmTopicOf(resource),
  title: crmTopicOf(resource),
  summary: `${crmEventResources[resource].one} has changed: ${crmEventTypesOf(resource).join(', ')}.`,
  contentType: 'application/cloudevents+json',
  payload: crmEventSchema(resource),
  bindings: { kafka: { key, bindingVersion: KAFKA_BINDING_VERSION } },
  examples: [{ name: 'example', payload: exampleOf(resource) }],
});

const entries = (
  of: (resource: CrmEventResource, topic: string) => [string, object],
): Record<string, object> =>
  Object.fromEntries(crmEventResourceNames.map((resource) => of(resource, crmTopicOf(resource))));

/** The AsyncAPI 3 document of CRM's events, generated from the definitions that validate them. */
export const crmAsyncapiDocument = () => ({
  ...describedInfo(
    'Events of CRM',
    'One topic for each resource, which keeps the order of the changes of each record. Events contain ids and ' +
      'names of fields, never their values: read the record from CRM.',
  ),
  channels: {
    ...entries((resource, topic) => [
      topic,
      {
        address: topic,
        summary: `Changes of ${crmEventResources[resource].one}.`,
        messages: { event: { $ref: `#/components/messages/${topic}` } },
      },
    ]),
    ...entries((_, topic) => deadLetterChannel(topic)),
  },
  operations: entries((resource, topic) => [
    `publish.${topic}`,
    {
      action: 'send',
      channel: { $ref: `#/channels/${topic}` },
      messages: [{ $ref: `#/channels/${topic}/messages/event` }],
      summary: `Published through the outbox after a change of ${crmEventResources[resource].one}.`,
    },
  ]),
  components: {
    messages: {
      ...entries((resource, topic) => [topic, message(resource)]),
      'dead-letter': deadLetterMessage,
    },
  },
});

/** The topics of all services in one document, for a broker that enforces it. */
export const platformAsyncapiDocument = () => {
  const [identity, crm] = [asyncapiDocument(), crmAsyncapiDocument()];
  return {
    ...identity,
    info: { ...identity.info, title: 'Events of Tessera' },
    channels: { ...identity.channels, ...crm.channels },
    operations: { ...identity.operations, ...crm.operations },
    components: { messages: { ...identity.components.messages, ...crm.components.messages } },
  };
};
