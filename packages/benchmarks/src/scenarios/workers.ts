import { freePort } from '@tessera/local-stack';
import { alternate, bearerVariants, CONNECTIONS, roundsOf, sideOf } from '../comparison.ts';
import type { Scenario } from '../scenario.ts';
import { metricAt } from '../system.ts';

const WORKERS = 2;
/** What the second worker should add on as many idle cores; the load itself and PostgreSQL need others. */
const TARGET = 1.5;

/** Compares identity with two workers with identity as one process, under the same load. */
export const severalWorkers: Scenario = {
  name: 'workers',
  run: async (bench) => {
    const { system, options } = bench;
    const { identity, addReplica } = system.stack;
    const metricsPort = await freePort();
    const cluster = await addReplica('identity', {
      WORKERS: `${WORKERS}`,
      METRICS_PORT: `${metricsPort}`,
    });
    try {
      const tokens = await Promise.all(
        Array.from({ length: options.smoke ? 2 : CONNECTIONS }, () => system.signIn('owner')),
      );
      const variants = bearerVariants(tokens);
      const requestTo = (origin: string) => ({ url: `${origin}/api/user`, variants });
      const sides = [
        sideOf(bench, `${WORKERS} workers`, {
          request: requestTo(cluster.url),
          cpu: () => metricAt(metricsPort, 'process_cpu_seconds_total'),
        }),
        sideOf(bench, 'one process', {
          request: requestTo(identity.url),
          cpu: () => system.cpu('identity'),
        }),
      ] as const;
      await alternate(1, ...sides);
      const { ratio, ...loads } = await alternate(roundsOf(options), ...sides);
      return [
        {
          what: `GET /api/user with WORKERS=${WORKERS}`,
          ...loads,
          ratio,
          remark: 'compared with one process',
          target: { text: `≥ ${TARGET}`, isMet: ratio >= TARGET },
        },
      ];
    } finally {
      await cluster.stop();
    }
  },
};
