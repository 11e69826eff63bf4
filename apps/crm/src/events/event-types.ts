import {
  type CrmEventResource,
  type CrmEventType,
  crmEventResourceNames,
  crmEventResources,
  crmEventTypes,
  type HistoryAction,
  verbOf,
} from '@tessera/contracts';

/** A type of event: what happened to a record of which resource. */
export interface EventDescription {
  readonly type: CrmEventType;
  readonly resource: CrmEventResource;
  readonly table: string;
  /** The action in the history of the record. */
  readonly action: HistoryAction;
}

const describe = (resource: CrmEventResource): EventDescription[] => {
  const { table, actions } = crmEventResources[resource];
  return actions.map((action: HistoryAction) => ({
    type: `crm.${resource}.${verbOf(action)}` as CrmEventType,
    resource,
    table,
    action,
  }));
};

/** Every type of event. The records of a table are the resource of its events. */
export const eventDescriptions: readonly EventDescription[] =
  crmEventResourceNames.flatMap(describe);

/** The names of all types, such as `crm.contacts.updated`. */
export const eventTypes: readonly CrmEventType[] = crmEventTypes;

const byChange = new Map(
  eventDescriptions.map((description) => [
    `${description.table} ${description.action}`,
    description,
  ]),
);

/** The type of a change in the history; undefined if it is no event. */
export const eventOf = (table: string, action: string): EventDescription | undefined =>
  byChange.get(`${table} ${action}`);

/** Tables of kinds whose changes are no events, and why. */
export const withoutEvents: Readonly<Record<string, string>> = {
  activities: 'They are a log themselves, of changes that are events.',
  kb_article_feedback: 'Votes are counted on the article, and their texts are for its editors.',
  webhook_attempts: 'They belong to deliveries.',
  webhook_deliveries: 'They are what becomes of events.',
  webhook_endpoints: 'They say where events go, and their changes are in the history.',
};
