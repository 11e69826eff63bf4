import { setTimeout as delay } from 'node:timers/promises';
import { type Application, isReady, type RoundRobin } from '@tessera/local-stack';

const PERIOD_MS = 500;
const TIMEOUT_MS = 2000;

/** Asks the replicas of a service for `/readyz`, as a load balancer does; the proxy uses those that answer 200. */
export interface HealthChecks {
  add(replica: Application): void;
  remove(replica: Application): void;
  /** Whether the proxy uses all replicas. */
  areAllUsed(): boolean;
  stop(): Promise<void>;
}

export const startHealthChecks = (proxy: RoundRobin): HealthChecks => {
  const replicas = new Set<string>();
  const used = new Set<string>();
  const use = (url: string, isUsable: boolean): void => {
    if (isUsable === used.has(url)) return;
    if (isUsable) {
      used.add(url);
      proxy.add(url);
    } else {
      used.delete(url);
      proxy.remove(url);
    }
  };
  let isStopping = false;
  const check = async (): Promise<void> => {
    while (!isStopping) {
      await Promise.all(
        [...replicas].map(async (url) => {
          const ready = await isReady(url, TIMEOUT_MS);
          use(url, ready && replicas.has(url));
        }),
      );
      await delay(PERIOD_MS);
    }
  };
  const checking = check();
  return {
    add: ({ url }) => void replicas.add(url),
    remove({ url }) {
      replicas.delete(url);
      use(url, false);
    },
    areAllUsed: () => used.size === replicas.size,
    async stop() {
      isStopping = true;
      await checking;
    },
  };
};
