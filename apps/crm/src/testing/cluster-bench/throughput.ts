import { databaseCpu } from '@tessera/benchmarks/database-cpu';
import { createPool } from '@tessera/database-kit';
import { citusNodes } from '@tessera/local-stack';
import type { BenchTenant } from './tenants.ts';

const SECONDS = 5;
const CLIENTS = 8;

type Send = (tenant: BenchTenant) => Promise<Response>;

export interface Throughput {
  readonly request: string;
  readonly perSecond: number;
  /** CPU time of PostgreSQL per request in milliseconds, the coordinator first. */
  readonly cpu: readonly number[];
}

const bodyOf = async <B>(response: Response): Promise<B> => {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as B;
};

const requestsTo = async (
  url: string,
  tenants: readonly BenchTenant[],
): Promise<Readonly<Record<string, Send>>> => {
  const path = `${url}/api/crm/contacts`;
  const ids = new Map<BenchTenant, string>();
  for (const tenant of tenants) {
    const response = await fetch(`${path}?per_page=1`, { headers: tenant.headers });
    const { data } = await bodyOf<{ data: [{ id: string }] }>(response);
    ids.set(tenant, data[0].id);
  }
  return {
    'GET /api/crm/contacts/{id}': (tenant) =>
      fetch(`${path}/${ids.get(tenant)}`, { headers: tenant.headers }),
    'GET /api/crm/contacts': ({ headers }) => fetch(path, { headers }),
    'POST /api/crm/contacts': ({ headers }) =>
      fetch(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"first_name":"Ada"}',
      }),
  };
};

/** Sends requests of all tenants in turn; returns the number of answers. */
const repeat = async (
  send: Send,
  tenants: readonly BenchTenant[],
  seconds: number,
): Promise<number> => {
  const end = performance.now() + seconds * 1000;
  let sent = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const tenant = tenants[sent % tenants.length] as BenchTenant;
      sent += 1;
      await bodyOf(await send(tenant));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return sent;
};

/** Measures CRM at this URL; `citusUrl` is that of the coordinator. */
export const measureThroughput = async (
  url: string,
  tenants: readonly BenchTenant[],
  citusUrl: string,
): Promise<readonly Throughput[]> => {
  const pools = (await citusNodes(citusUrl)).map(({ host, port }) => {
    const at = new URL(citusUrl);
    at.hostname = host;
    at.port = `${port}`;
    return createPool(at.href, { applicationName: 'bench', size: 1 });
  });
  try {
    const cpus = await Promise.all(pools.map((pool) => databaseCpu(pool)));
    const used = (): Promise<number[]> => Promise.all(cpus.map((cpu) => cpu()));
    const results: Throughput[] = [];
    for (const [request, send] of Object.entries(await requestsTo(url, tenants))) {
      await repeat(send, tenants, SECONDS / 3);
      const before = await used();
      const begin = performance.now();
      const sent = await repeat(send, tenants, SECONDS);
      const perSecond = (1000 * sent) / (performance.now() - begin);
      const after = await used();
      const cpu = after.map((seconds, at) => (1000 * (seconds - (before[at] ?? 0))) / sent);
      results.push({ request, perSecond, cpu });
    }
    return results;
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
};
