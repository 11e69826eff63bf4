import { processes, RATE, requests, resources } from './common-rows.ts';
import type { Dashboard } from './panel.ts';

export const crm: Dashboard = {
  uid: 'tessera-crm',
  title: 'Tessera: CRM',
  rows: [
    requests('crm'),
    resources('crm'),
    {
      title: 'Files',
      graphs: [
        {
          title: 'Malware scans',
          queries: { '{{result}}': `sum by (result) (rate(file_scans_total${RATE}))` },
          unit: 'short',
        },
        {
          title: 'Found by the sweep of the file store',
          queries: { '{{kind}}': 'max by (kind) (file_sweep_found)' },
          unit: 'short',
        },
      ],
    },
    processes('crm'),
  ],
};
