import { randomUUID } from 'node:crypto';
import { type EventData, type EventType, identityEvent } from '@tessera/contracts';
import type { ConsumeOptions, Consumption } from '@tessera/event-bus';

/** The events of a stand-in for identity, delivered within the process: a consumer has each before `publish` returns. */
export class StandInEvents {
  readonly #consumers = new Set<ConsumeOptions>();
  #offset = 0;

  /** Consumes the events, as `consumeEvents` of a resource server. */
  readonly consume = (options: ConsumeOptions): Consumption => {
    void options.onConnected();
    this.#consumers.add(options);
    return {
      progress: () => new Map(),
      connected: () => this.#consumers.has(options),
      stop: async () => void this.#consumers.delete(options),
    };
  };

  /** Delivers an event. Throws if a consumer rejects it. */
  publish<T extends EventType>(type: T, data: EventData<T>): void {
    const event = identityEvent(type, data, { id: randomUUID(), time: new Date() });
    const value = Buffer.from(JSON.stringify(event));
    this.#offset += 1;
    const offset = `${this.#offset}`;
    for (const { onRecord } of this.#consumers) {
      const result = onRecord({ topic: type, partition: 0, offset, key: null, value, headers: {} });
      if (result && 'rejected' in result) throw new Error(`${type}: ${result.rejected}`);
    }
  }
}
