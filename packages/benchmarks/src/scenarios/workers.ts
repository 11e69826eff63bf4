import { freePort } from '@tessera/local-stack';
import { alternate, bearerVariants, CONNECTIONS, extentOf, responsesIn } from '../comparison.ts';
import type { Load, Plan } from '../load/plan.ts';
import { requireResponses, type Scenario } from '../scenario.ts';
import { metricAt } from '../system.ts';

const WORKERS = 2;
/** What the second worker should add on as many idle cores; the load itself and PostgreSQL need others. */
const TARGET = 1.5;
const ROUND_SECONDS = 2;

/** Compares identity with two workers with identity as one process, under the same load. */
export const severalWorkers: Scenario = {
  name: 'workers',
  run: async ({ system, load, options }) => {
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
      const side = (of: string, origin: string, cpu: () => Promise<number>) => async () => {
        const before = await cpu();
        const url = `${origin}/api/user`;
        const extent = extentOf(options, ROUND_SECONDS);
        const plan: Plan = { url, variants, connections: CONNECTIONS, ...extent };
        const measured = await load.ask<Load>(plan);
        requireResponses(of, measured);
        return { ...measured, cpu: (1000 * ((await cpu()) - before)) / responsesIn(measured) };
      };
      const sides = [
        side(`${WORKERS} workers`, cluster.url, () =>
          metricAt(metricsPort, 'process_cpu_seconds_total'),
        ),
        side('one process', identity.url, () => system.cpu('identity')),
      ] as const;
      await alternate(1, ...sides);
      const rounds = Math.max(1, Math.round(options.seconds / ROUND_SECONDS));
      const { ratio, ...loads } = await alternate(rounds, ...sides);
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
