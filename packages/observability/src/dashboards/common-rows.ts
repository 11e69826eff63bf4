import type { Row } from './panel.ts';

/** The label of Prometheus that names the service. */
export type Service = 'identity' | 'crm';

/** Grafana replaces it by an interval that suits the resolution of the graph. */
export const RATE = '[$__rate_interval]';

const REQUESTS = 'http_server_request_duration_seconds';
/** Streams last as long as the client listens. */
const answered = (service: Service): string => `{job="${service}",operation!~"stream.*"}`;

/** A quantile of a histogram, by labels. */
export const quantile = (of: number, histogram: string, labels: string, by = ''): string =>
  `histogram_quantile(${of}, sum by (le${by && `, ${by}`}) (rate(${histogram}_bucket${labels}${RATE})))`;

/** Rate, errors and duration of requests. */
export const requests = (service: Service): Row => {
  const count = (labels = ''): string =>
    `rate(${REQUESTS}_count{job="${service}"${labels}}${RATE})`;
  return {
    title: 'Requests',
    graphs: [
      {
        title: 'Requests by status',
        queries: { '{{status}}': `sum by (status) (${count()})` },
        unit: 'reqps',
      },
      {
        title: 'Failed requests',
        description: 'Requests answered with 5xx, as a part of all.',
        queries: {
          failed: `(sum(${count(',status=~"5.."')}) or vector(0)) / sum(${count()})`,
        },
        unit: 'percentunit',
      },
      {
        title: 'Duration',
        description: 'Without streams, which last as long as the client listens.',
        queries: {
          median: quantile(0.5, REQUESTS, answered(service)),
          '95 %': quantile(0.95, REQUESTS, answered(service)),
          '99 %': quantile(0.99, REQUESTS, answered(service)),
        },
        unit: 's',
      },
      {
        title: 'Most requests by operation',
        queries: { '{{operation}}': `topk(10, sum by (operation) (${count()}))` },
        unit: 'reqps',
      },
      {
        title: 'Failed requests by operation',
        queries: {
          '{{operation}} {{status}}': `sum by (operation, status) (${count(',status=~"5..|cut off"')})`,
        },
        unit: 'reqps',
      },
      {
        title: 'Slowest operations (95 %)',
        queries: {
          '{{operation}}': `topk(10, ${quantile(0.95, REQUESTS, answered(service), 'operation')})`,
        },
        unit: 's',
      },
    ],
  };
};

/** Connections to PostgreSQL and caches. */
export const resources = (service: Service): Row => {
  const of = (metric: string): string => `${metric}{job="${service}"}`;
  const cacheRate = `sum by (cache) (rate(${of('cache_requests_total')}${RATE}))`;
  const hitRate = `sum by (cache) (rate(cache_requests_total{job="${service}",result="hit"}${RATE}))`;
  return {
    title: 'Connections and caches',
    graphs: [
      {
        title: 'Connections to PostgreSQL',
        queries: {
          'used: {{pool}}': `sum by (pool) (${of('database_pool_connections')} - ${of('database_pool_connections_idle')})`,
          'most: {{pool}}': `sum by (pool) (${of('database_pool_connections_max')})`,
        },
        unit: 'short',
      },
      {
        title: 'Work that waits for a connection',
        queries: { '{{pool}}': `sum by (pool) (${of('database_pool_waiting')})` },
        unit: 'short',
      },
      {
        title: 'Cache hits',
        queries: { '{{cache}}': `${hitRate} / ${cacheRate}` },
        unit: 'percentunit',
      },
      {
        title: 'Requests of caches',
        queries: { '{{cache}}': cacheRate },
        unit: 'reqps',
      },
      {
        title: 'Entries of caches',
        queries: { '{{cache}}': `sum by (cache) (${of('cache_entries')})` },
        unit: 'short',
      },
    ],
  };
};

/** CPU, memory and the event loop. With `WORKERS`, each worker and the primary process are processes of their own. */
export const processes = (service: Service): Row => {
  const of = (metric: string): string => `${metric}{job="${service}"}`;
  return {
    title: 'Processes',
    graphs: [
      {
        title: 'CPU',
        description: '1 is a busy core.',
        queries: {
          '{{instance}} {{worker}}': `rate(${of('process_cpu_seconds_total')}${RATE})`,
        },
        unit: 'short',
      },
      {
        title: 'Resident memory',
        queries: { '{{instance}} {{worker}}': of('process_resident_memory_bytes') },
        unit: 'bytes',
      },
      {
        title: 'Delay of the event loop (99 %)',
        queries: { '{{instance}} {{worker}}': of('nodejs_eventloop_lag_p99_seconds') },
        unit: 's',
      },
      {
        title: 'Event loop kept by operation',
        description:
          'Time in which one operation or job let nothing else run, in stretches of 10 ms or longer. 1 is all the time of one process.',
        queries: {
          '{{operation}}': `topk(10, sum by (operation) (rate(${of('eventloop_blocked_seconds_sum')}${RATE})))`,
        },
        unit: 'percentunit',
      },
      {
        title: 'Heap in use',
        queries: { '{{instance}} {{worker}}': of('nodejs_heap_size_used_bytes') },
        unit: 'bytes',
      },
      {
        title: 'Time of garbage collection',
        queries: {
          '{{kind}}': `sum by (kind) (rate(${of('nodejs_gc_duration_seconds_sum')}${RATE}))`,
        },
        unit: 'percentunit',
      },
      {
        title: 'Replaced workers',
        description: 'With WORKERS only.',
        queries: { '{{instance}}': of('workers_replaced') },
        unit: 'short',
      },
    ],
  };
};
