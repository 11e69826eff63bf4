import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';

/** The events of contacts that have arrived in Kafka. */
export interface ReceivedEvents {
  /** Whether the creation of a record has been announced. */
  hasCreated(recordId: string): boolean;
  /** Reads a broker that was started again, from its beginning. */
  reconnect(): Promise<void>;
  stop(): Promise<void>;
}

interface CrmEvent {
  readonly type: string;
  readonly data: { readonly record_id: string };
}

/** Reads all events of contacts, from the beginning. */
export const receiveEvents = async (brokers: readonly string[]): Promise<ReceivedEvents> => {
  const created = new Set<string>();
  const connect = async () => {
    const kafka = new Kafka({
      clientId: 'faults',
      brokers: [...brokers],
      logLevel: logLevel.NOTHING,
      retry: { initialRetryTime: 200, maxRetryTime: 1000, retries: 1000 },
    });
    const consumer = kafka.consumer({ groupId: `faults-${randomUUID()}` });
    await consumer.connect();
    await consumer.subscribe({ topic: 'crm.contacts', fromBeginning: true });
    await consumer.run({
      async eachMessage({ message }) {
        const event = JSON.parse(`${message.value}`) as CrmEvent;
        if (event.type === 'crm.contacts.created') created.add(event.data.record_id);
      },
    });
    return consumer;
  };
  let consumer = await connect();
  return {
    hasCreated: (recordId) => created.has(recordId),
    async reconnect() {
      const previous = consumer;
      consumer = await connect();
      await previous.disconnect().catch(() => undefined);
    },
    stop: () => consumer.disconnect().catch(() => undefined),
  };
};
