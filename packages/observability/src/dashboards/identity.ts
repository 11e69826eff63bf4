import { processes, quantile, RATE, requests, resources } from './common-rows.ts';
import type { Dashboard } from './panel.ts';

export const identity: Dashboard = {
  uid: 'tessera-identity',
  title: 'Tessera: identity',
  rows: [
    requests('identity'),
    {
      title: 'Passwords',
      graphs: [
        {
          title: 'Checks of passwords that wait',
          queries: {
            waiting: 'sum(password_hash_queue_length)',
            running: 'sum(password_hash_running)',
            'may wait': 'sum(password_hash_queue_limit)',
          },
          unit: 'short',
        },
        {
          title: 'Time of checks',
          queries: {
            'waiting (95 %)': quantile(0.95, 'password_hash_wait_seconds', ''),
            'running (95 %)': quantile(0.95, 'password_hash_duration_seconds', ''),
          },
          unit: 's',
        },
        {
          title: 'Checks and refusals',
          queries: {
            checked: `sum(rate(password_hash_duration_seconds_count${RATE}))`,
            refused: `sum(rate(password_hash_rejected_total${RATE}))`,
          },
          unit: 'reqps',
        },
      ],
    },
    {
      title: 'Mails',
      graphs: [
        { title: 'Mails that wait', queries: { waiting: 'max(mails_waiting)' }, unit: 'short' },
        {
          title: 'Delay of mails',
          queries: {
            'oldest mail': 'max(mails_oldest_seconds)',
            'overdue attempt': 'max(mails_overdue_seconds)',
          },
          unit: 's',
        },
        {
          title: 'Dropped mails',
          queries: { '{{reason}}': `sum by (reason) (rate(mails_dropped_total${RATE}))` },
          unit: 'reqps',
        },
      ],
    },
    resources('identity'),
    processes('identity'),
  ],
};
