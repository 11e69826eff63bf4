import {
  described,
  int,
  type JsonSchema,
  list,
  matching,
  type Out,
  oneOf,
  openShape,
  optional,
  text,
  uuid,
} from '@tessera/fields';
import {
  type CloudEvent,
  eventField,
  type Parsed,
  parseCloudEvent,
  refused,
} from '../events/envelope.ts';
import { openEnum } from '../events/open-enum.ts';
import {
  type CrmEventResource,
  type CrmEventType,
  crmEventResourceNames,
  crmEventTypesOf,
  crmTopicOf,
} from './resources.ts';

/** Ids and names of fields: no personal data and no content, which consumers read from CRM with their own rights. */
export const CrmEventData = openShape({
  tenant_id: uuid(),
  record_id: uuid(),
  version: described(
    int(0, 2_147_483_647),
    'The version of the record that the change made, the first part of its `ETag`',
  ),
  changed_fields: described(
    list(text(200), { max: 1000 }),
    'The names of the changed fields, without their values; empty if the record was created or deleted',
  ),
  actor: described(
    openShape({
      type: openEnum('user', 'service_account', 'client', 'bot', 'system'),
      user_id: optional(uuid()),
      client_id: optional(text(200)),
      impersonator_id: described(
        optional(text(200)),
        'The administrator who acted as the user, if any',
      ),
    }),
    'Who made the change: the ids that are known',
  ),
});

export type CrmEventData = Out<typeof CrmEventData>;

/** An event of CRM. */
export type CrmEvent = CloudEvent<CrmEventType, CrmEventData>;

/** An event as a consumer gets it: its type may be one that a later release has added. */
export type ReceivedCrmEvent = CloudEvent<string, CrmEventData>;

const fieldOf = (resource: CrmEventResource) =>
  eventField(
    oneOf(...(crmEventTypesOf(resource) as readonly [CrmEventType, ...CrmEventType[]])),
    CrmEventData,
  );

/** By topic. Event types that a later release has added are parsed, too: consumers must ignore what they do not know. */
const parsedFields = new Map(
  crmEventResourceNames.map((resource) => {
    const topic = crmTopicOf(resource);
    const type = new RegExp(`^${topic.replaceAll('.', '\\.')}\\.[a-z_]+$`);
    return [topic, eventField(matching(type, `a type of ${topic}`, 200), CrmEventData)];
  }),
);

/** JSON Schema of the events of a resource. */
export const crmEventSchema = (resource: CrmEventResource): JsonSchema => fieldOf(resource).json;

/** The key of an event's record. Events of one record keep their order; the tenant comes first. */
export const crmEventKey = ({
  tenant_id,
  record_id,
}: Pick<CrmEventData, 'tenant_id' | 'record_id'>): string => `${tenant_id}/${record_id}`;

/** Parses the value of a record. The reason of a failure names the invalid fields and contains no values. */
export const parseCrmEvent = (topic: string, value: string): Parsed<ReceivedCrmEvent> => {
  const field = parsedFields.get(topic);
  if (!field) return refused('The topic is not one of CRM.');
  const parsed = parseCloudEvent<ReceivedCrmEvent>(field, value);
  if (parsed.ok && parsed.event.subject !== crmEventKey(parsed.event.data)) {
    return refused('subject does not match the data');
  }
  return parsed;
};

/** Creates an event. */
export const crmEvent = (
  type: CrmEventType,
  data: CrmEventData,
  { id, time }: { readonly id: string; readonly time: Date },
): CrmEvent => ({
  specversion: '1.0',
  id,
  source: '/tessera/crm',
  type,
  subject: crmEventKey(data),
  time: time.toISOString(),
  datacontenttype: 'application/json',
  data,
});
