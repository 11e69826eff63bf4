import { type Read, registerReadGauge } from '@tessera/telemetry/metrics';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Outcome } from './attempts.repository.ts';
import { type DisabledReason, disabledReasons } from './endpoints.repository.ts';

/** What is measured of webhooks. */
export interface WebhookMetrics {
  /** One attempt has ended. */
  attempted(state: Outcome['state'], durationMs: number): void;
  /** An endpoint was disabled automatically. */
  disabled(reason: DisabledReason): void;
}

const RESULTS = { succeeded: 'succeeded', pending: 'will_retry', failed: 'failed' } as const;

/** Registers the metrics; `oldest` returns the age of the oldest unfinished delivery, in seconds. */
export const createWebhookMetrics = (registry: Registry, oldest: Read<number>): WebhookMetrics => {
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts of webhook deliveries by result (succeeded, will_retry, failed).',
    labelNames: ['result'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Duration of webhook requests by result.',
    labelNames: ['result'],
    buckets: [0.05, 0.25, 1, 5, 15],
    registers: [registry],
  });
  const disabled = new Counter({
    name: 'webhook_endpoints_disabled_total',
    help: 'Webhook endpoints that were disabled automatically, by reason (failing, gone, backlog).',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of disabledReasons) disabled.inc({ reason }, 0);
  // From 0 on, so that the first one of a kind is an increase.
  for (const result of Object.values(RESULTS)) {
    attempts.inc({ result }, 0);
    duration.zero({ result });
  }
  registerReadGauge(
    registry,
    {
      name: 'webhook_oldest_delivery_seconds',
      help: 'Age of the oldest webhook delivery that has neither succeeded nor failed for good.',
    },
    oldest,
    (gauge, age) => gauge.set(age),
  );
  return {
    attempted(state, durationMs) {
      const result = RESULTS[state];
      attempts.inc({ result });
      duration.observe({ result }, durationMs / 1000);
    },
    disabled: (reason) => disabled.inc({ reason }),
  };
};
