import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Application } from '@tessera/local-stack';
import { type Nginx, startNginx } from '../nginx.ts';
import type { Scenario } from '../scenario.ts';
import type { System } from '../system.ts';

const services = ['identity', 'crm'] as const;

/** As in production; a local service would stop at once. */
const settings = { STOP_DELAY_SECONDS: '5' };

interface Behind {
  readonly directory: string;
  readonly nginx: Nginx;
  readonly replicas: Readonly<Record<(typeof services)[number], readonly Application[]>>;
}

let behind: Behind | undefined;

const addReplicas = async (
  { stack }: System,
  service: (typeof services)[number],
): Promise<readonly Application[]> => [
  await stack.addReplica(service, settings),
  // Its workers are replicas as well.
  await stack.addReplica(service, { ...settings, WORKERS: '2' }),
];

const end = async (replica: Application): Promise<void> => {
  replica.signal('SIGTERM');
  await replica.ended();
};

export const rollingRestart: Scenario = {
  name: 'rolling-restart',
  title: 'behind nginx, two replicas of each service are restarted one after the other (SIGTERM)',
  seconds: 40,
  refusals: [],
  answersAll: true,
  isOver: true,
  async setup(system) {
    const directory = await mkdtemp(path.join(tmpdir(), 'tessera-nginx-'));
    const replicas = {
      identity: await addReplicas(system, 'identity'),
      crm: await addReplicas(system, 'crm'),
    };
    const urlsOf = (service: (typeof services)[number]) => replicas[service].map(({ url }) => url);
    const nginx = await startNginx(directory, { identity: urlsOf('identity'), crm: urlsOf('crm') });
    behind = { directory, nginx, replicas };
  },
  entry() {
    if (!behind) throw new Error('nginx has not been started.');
    return behind.nginx.urls;
  },
  async inject() {
    for (const replica of Object.values(behind?.replicas ?? {}).flat()) {
      await end(replica);
      await replica.start();
    }
  },
  heal: async () => undefined,
  async teardown() {
    if (!behind) return;
    await behind.nginx.stop();
    await Promise.all(Object.values(behind.replicas).flat().map(end));
    await rm(behind.directory, { recursive: true });
    behind = undefined;
  },
};
