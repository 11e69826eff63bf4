import {
  type EventData,
  type EventType,
  identityEvent,
  platformAsyncapiDocument,
} from '@tessera/contracts';
import { createPublisher } from '@tessera/event-bus';
import { type Broker, startBroker, withoutSchemas } from '@tessera/local-stack';
import { v7 as uuidv7 } from 'uuid';

export interface EventSource {
  readonly brokers: readonly string[];
  /** Publishes an event as identity does. */
  publish<T extends EventType>(type: T, data: EventData<T>): Promise<void>;
  /** Publishes any text as a record of a topic. */
  publishRaw(topic: string, value: string): Promise<void>;
  kill(): Promise<void>;
  /** Restarts the broker on the same port, with empty topics. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a broker for one test file, with a publisher of identity's events. */
export const startEvents = async (): Promise<EventSource> => {
  // Tests also publish malformed records.
  const asyncapi = withoutSchemas(platformAsyncapiDocument());
  let broker: Broker = await startBroker({ asyncapi });
  const { brokers, port } = broker;
  const publisher = createPublisher({ brokers, clientId: 'test' });
  const publishRaw = (topic: string, value: string): Promise<void> =>
    publisher.publish([{ topic, key: 'key', value }]);
  return {
    brokers,
    publishRaw,
    publish: (type, data) =>
      publishRaw(
        type,
        JSON.stringify(identityEvent(type, data, { id: uuidv7(), time: new Date() })),
      ),
    kill: () => broker.kill(),
    async restart() {
      broker = await startBroker({ asyncapi, port });
    },
    async stop() {
      await publisher.close();
      await broker.stop();
    },
  };
};
