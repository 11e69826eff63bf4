import type { ExclusiveWorker } from '@tessera/background-work';
import { crmEvent, crmEventKey, crmTopicOf } from '@tessera/contracts';
import { createPublisher, inGroups, type Message, type Publisher } from '@tessera/event-bus';
import type { Logger } from '@tessera/http-kit';
import type { Config } from '../config.ts';
import { type OutboxEvent, type OutboxReaderOptions, startOutboxReader } from './outbox-reader.ts';

export interface EventPublisher {
  /** Ends after the events in progress, and lets another replica take over. */
  stop(): Promise<void>;
}

/** The longest time that a stop waits for a broker that does not respond. */
const TIME_LIMIT_MS = 2000;

/** The Kafka record of an event. */
export const messageOf = ({
  id,
  type,
  resource,
  tenantId,
  recordId,
  version,
  occurredAt,
  data,
}: OutboxEvent): Message => {
  const about = {
    tenant_id: tenantId,
    record_id: recordId,
    version,
    changed_fields: [...data.changed_fields],
    actor: {
      type: data.actor_type,
      ...(data.user_id !== null && { user_id: data.user_id }),
      ...(data.client_id !== null && { client_id: data.client_id }),
      ...(data.impersonator_id !== null && { impersonator_id: data.impersonator_id }),
    },
  };
  return {
    topic: crmTopicOf(resource),
    key: crmEventKey(about),
    value: JSON.stringify(crmEvent(type, about, { id, time: occurredAt })),
    ...(data.traceparent && { headers: { traceparent: data.traceparent } }),
  };
};

export interface PublishOptions extends Pick<OutboxReaderOptions, 'database' | 'logger' | 'batch'> {
  readonly publisher: Pick<Publisher, 'publish'>;
}

/** Publishes the outbox, each event at least once: an event is deleted after the broker has accepted it. */
export const publishOutbox = ({ publisher, ...options }: PublishOptions): ExclusiveWorker =>
  startOutboxReader({
    ...options,
    sink: 'kafka',
    async handle(events, _tx, confirm) {
      for (const group of inGroups(events.map(messageOf))) {
        await confirm();
        await publisher.publish(group);
      }
    },
  });

/** Publishes the outbox to the configured broker; undefined if there is none. */
export const startEventPublisher = (
  {
    kafkaBrokers,
    kafkaSecurity,
    database,
  }: Pick<Config, 'kafkaBrokers' | 'kafkaSecurity' | 'database'>,
  logger: Logger,
): EventPublisher | undefined => {
  if (kafkaBrokers.length === 0) return undefined;
  const publisher = createPublisher({
    brokers: kafkaBrokers,
    security: kafkaSecurity,
    clientId: 'crm',
    logger,
    timeoutMs: TIME_LIMIT_MS,
  });
  const worker = publishOutbox({ database, logger, publisher });
  return {
    async stop() {
      await worker.stop();
      await publisher.close();
    },
  };
};
