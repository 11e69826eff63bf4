import type { KindName } from './records.ts';

/** What each small tenant has: a company that tries the product, beside tenants that depend on it. */
export const smallTenant = {
  users: 3,
  records: {
    companies: 60,
    contacts: 300,
    communication_logs: 150,
    leave_requests: 12,
    projects: 3,
    tasks: 60,
    time_entries: 200,
  },
} as const satisfies { readonly users: number; readonly records: Record<KindName, number> };
