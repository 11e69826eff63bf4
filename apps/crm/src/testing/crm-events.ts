import {
  crmEventResourceNames,
  crmTopicOf,
  parseCrmEvent,
  platformAsyncapiDocument,
  type ReceivedCrmEvent,
} from '@tessera/contracts';
import { type Consumption, consume } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { type Broker, startBroker, until } from '@tessera/local-stack';

interface SeenEvent {
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly event: ReceivedCrmEvent;
}

/** CRM's events as they arrive at a broker, which rejects records that violate the AsyncAPI document. */
export interface FollowedEvents {
  readonly brokers: readonly string[];
  /** With the key and the headers of the record. */
  readonly seen: readonly SeenEvent[];
  kill(): Promise<void>;
  /** Restarts the broker at the same address, and follows it again; what it gets first may not be seen. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const topics = crmEventResourceNames.map(crmTopicOf);

export const followCrmEvents = async (): Promise<FollowedEvents> => {
  const asyncapi = platformAsyncapiDocument();
  let broker: Broker = await startBroker({ asyncapi });
  const seen: SeenEvent[] = [];
  const consumption: Consumption = consume({
    brokers: broker.brokers,
    clientId: 'follower',
    groupId: 'follower',
    topics,
    logger: createLogger('follower', 'silent'),
    onConnected: () => undefined,
    onRecord({ topic, key, headers, value }) {
      const parsed = parseCrmEvent(topic, String(value));
      if (!parsed.ok) return { rejected: parsed.reason };
      seen.push({ key, headers, event: parsed.event });
      return undefined;
    },
  });
  await until(consumption.connected);
  return {
    brokers: broker.brokers,
    seen,
    async kill() {
      await broker.kill();
      await until(() => !consumption.connected());
    },
    async restart() {
      broker = await startBroker({ asyncapi, port: broker.port });
      await until(consumption.connected);
    },
    async stop() {
      await consumption.stop();
      await broker.stop();
    },
  };
};
