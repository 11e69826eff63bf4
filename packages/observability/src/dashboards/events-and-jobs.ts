import { quantile, RATE } from './common-rows.ts';
import type { Dashboard } from './panel.ts';

/** Outboxes, consumption of events, jobs and webhooks. */
export const eventsAndJobs: Dashboard = {
  uid: 'tessera-events-and-jobs',
  title: 'Tessera: events and jobs',
  rows: [
    {
      title: 'Outbox',
      graphs: [
        {
          title: 'Events that wait',
          description: 'Each replica counts the same table.',
          queries: { '{{job}} to {{sink}}': 'max by (job, sink) (outbox_pending)' },
          unit: 'short',
        },
        {
          title: 'Age of the oldest event that waits',
          queries: { '{{job}} to {{sink}}': 'max by (job, sink) (outbox_oldest_seconds)' },
          unit: 's',
        },
        {
          title: 'Events set aside',
          queries: { '{{sink}}': 'max by (sink) (outbox_set_aside)' },
          unit: 'short',
        },
      ],
    },
    {
      title: 'Consumption of the events of identity',
      graphs: [
        {
          title: 'Replicas that receive events',
          queries: {
            connected: 'sum(events_connected)',
            all: 'count(events_connected)',
          },
          unit: 'short',
        },
        {
          title: 'Events still to be read',
          queries: { '{{topic}}': 'max by (topic) (events_lag)' },
          unit: 'short',
        },
        {
          title: 'Events read and rejected',
          queries: {
            'read: {{topic}}': `sum by (topic) (rate(events_consumed_total${RATE}))`,
            'rejected: {{topic}}': `sum by (topic) (rate(events_rejected_total${RATE}))`,
          },
          unit: 'short',
        },
      ],
    },
    {
      title: 'Jobs',
      graphs: [
        {
          title: 'Jobs by kind and state',
          description: 'Each replica counts the same queue.',
          queries: { '{{exported_job}} {{state}}': 'max by (exported_job, state) (jobs) > 0' },
          unit: 'short',
        },
        {
          title: 'How long the oldest job has been due',
          queries: { '{{exported_job}}': 'max by (exported_job) (jobs_overdue_seconds)' },
          unit: 's',
        },
        {
          title: 'Attempts by outcome',
          queries: {
            '{{exported_job}} {{outcome}}': `sum by (exported_job, outcome) (rate(job_duration_seconds_count${RATE}))`,
          },
          unit: 'short',
        },
        {
          title: 'Duration of attempts (95 %)',
          queries: {
            '{{exported_job}}': quantile(0.95, 'job_duration_seconds', '', 'exported_job'),
          },
          unit: 's',
        },
      ],
    },
    {
      title: 'Webhooks',
      graphs: [
        {
          title: 'Attempts by result',
          queries: { '{{result}}': `sum by (result) (rate(webhook_attempts_total${RATE}))` },
          unit: 'short',
        },
        {
          title: 'Duration of requests',
          queries: {
            median: quantile(0.5, 'webhook_attempt_duration_seconds', ''),
            '95 %': quantile(0.95, 'webhook_attempt_duration_seconds', ''),
          },
          unit: 's',
        },
        {
          title: 'Age of the oldest delivery that has not ended',
          queries: { oldest: 'max(webhook_oldest_delivery_seconds)' },
          unit: 's',
        },
      ],
    },
  ],
};
