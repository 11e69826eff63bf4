import { setTimeout as delay } from 'node:timers/promises';
import { isReady, type KeptRunning, keepRunning, until } from '@tessera/local-stack';
import type { FaultContext, Scenario } from '../scenario.ts';

const PAUSE_MS = 5000;

let kept: readonly KeptRunning[] = [];

/** What can be killed, and what starts it again if nothing else does. */
const victims = ({ system }: FaultContext) => [
  ...(['identity', 'crm'] as const).flatMap((service) =>
    system.replicas[service].map((replica) => ({ name: service, kill: () => replica.kill() })),
  ),
  {
    name: 'PostgreSQL',
    async kill() {
      await system.database.kill();
      await system.database.start();
    },
  },
  {
    name: 'Redis',
    async kill() {
      await system.redis.kill();
      await system.redis.restart();
    },
  },
];

/**
 * The broker is killed in a scenario of its own: the embedded one keeps its records in memory, so a random kill would
 * lose events that it had accepted.
 */
export const kills: Scenario = {
  name: 'kills',
  title: 'a random process (replicas, PostgreSQL, Redis) is killed with SIGKILL every five seconds',
  seconds: 300,
  refusals: [
    'database_unavailable',
    'identity_unavailable',
    'idempotency_key_in_use',
    'overloaded',
  ],
  isOver: true,
  async inject(context) {
    const { replicas } = context.system;
    kept = Object.values(replicas)
      .flat()
      .map((replica) => keepRunning('A replica', replica, () => undefined));
    const counts = new Map<string, number>();
    for (const end = performance.now() + context.seconds * 1000; performance.now() < end; ) {
      const all = victims(context);
      const victim = all[Math.floor(Math.random() * all.length)];
      if (!victim) break;
      counts.set(victim.name, (counts.get(victim.name) ?? 0) + 1);
      await victim.kill();
      context.markHealed();
      await delay(Math.min(PAUSE_MS, Math.max(0, end - performance.now())));
    }
    const killed = [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
    context.remark(`kills: ${killed}; recovery is that of the slowest`);
  },
  async heal({ system }) {
    // The proxy may not yet know that a replica was killed.
    for (const { url } of Object.values(system.replicas).flat()) await until(() => isReady(url));
    await Promise.all(kept.map((one) => one.stop()));
  },
};
