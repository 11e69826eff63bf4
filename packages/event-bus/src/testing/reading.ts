import { randomUUID } from 'node:crypto';
import { type ConsumeOptions, type Consumption, consume } from '../consumption.ts';
import type { Logger } from '../logger.ts';
import type { EventRecord } from '../session.ts';

export interface Reading extends Consumption {
  records: EventRecord[];
  /** The calls, in order: `connected`, `disconnected` and the value of each record. */
  happened: string[];
}

export const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Consumes as another replica and records every call. */
export function read(
  options: Pick<ConsumeOptions, 'brokers' | 'topics'> & Partial<ConsumeOptions>,
): Reading {
  const records: EventRecord[] = [];
  const happened: string[] = [];
  const consumption = consume({
    clientId: 'event-bus-test',
    groupId: `test-${randomUUID()}`,
    logger: quiet,
    onConnected: () => void happened.push('connected'),
    onDisconnected: () => void happened.push('disconnected'),
    ...options,
    onRecord(record) {
      records.push(record);
      happened.push(String(record.value));
      return options.onRecord?.(record);
    },
  });
  return { ...consumption, records, happened };
}
