import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type Application,
  type RedisServer,
  type S3Server,
  type Stack,
  signIn,
  startRedis,
  startRoundRobin,
  startS3,
  startStack,
  until,
} from '@tessera/local-stack';
import { type DatabaseServer, databaseServer, databaseSettings } from './database-server.ts';
import { type HealthChecks, startHealthChecks } from './health-checks.ts';
import { type Link, startLink } from './link.ts';
import type { Member, Target } from './load/operations.ts';
import { type ReceivedEvents, receiveEvents } from './received-events.ts';

export type Service = 'identity' | 'crm';

/** Two replicas of each service behind a proxy; links lead to what they depend on. */
export interface System {
  readonly stack: Stack;
  readonly database: DatabaseServer;
  readonly redis: RedisServer;
  readonly hasFileStore: boolean;
  readonly links: Readonly<Record<'database' | 'identity' | 'redis' | 'files', Link>>;
  readonly replicas: Readonly<Record<Service, readonly Application[]>>;
  readonly balancers: Readonly<Record<Service, HealthChecks>>;
  readonly events: ReceivedEvents;
  readonly target: Target;
  /** Waits until the proxies use all replicas. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** Keeps files in S3 (S3Mock) instead of a folder. */
  readonly withFileStore: boolean;
  readonly onStep: (step: string) => void;
}

/** High enough that the load does not reach them; those of addresses stay, because they meet floods. */
const limits = {
  RATE_LIMIT_LOGIN: '1000',
  RATE_LIMIT_DEFAULT: '1000000',
  RATE_LIMIT_ADDRESS: '6000',
};

const instruments = new URL('instruments.js', import.meta.url).href;

const throughLink = (url: string, { port }: Link): string => {
  const through = new URL(url);
  through.port = `${port}`;
  return through.href;
};

const fileStoreOf = (s3: S3Server | undefined, { port }: Link): Record<string, string> =>
  s3
    ? {
        FILE_STORE: 's3',
        FILE_STORE_S3_BUCKET: s3.bucket,
        FILE_STORE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
        FILE_STORE_S3_FORCE_PATH_STYLE: 'true',
        FILE_STORE_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
        FILE_STORE_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      }
    : {};

const portOf = (url: string): number => Number(new URL(url).port);

export const startSystem = async ({ withFileStore, onStep }: SystemOptions): Promise<System> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-faults-'));
  const stops: (() => Promise<unknown>)[] = [
    () => rm(directory, { recursive: true, force: true, maxRetries: 3 }),
  ];
  const stop = async (): Promise<void> => {
    for (const run of stops.splice(0).reverse()) await run();
  };
  try {
    const link = async (): Promise<Link> => {
      const started = await startLink();
      stops.push(() => started.stop());
      return started;
    };
    const links = {
      database: await link(),
      identity: await link(),
      redis: await link(),
      files: await link(),
    };
    const proxies = { identity: await startRoundRobin(), crm: await startRoundRobin() };
    stops.push(() => Promise.all([proxies.identity.stop(), proxies.crm.stop()]));
    links.identity.leadTo(portOf(proxies.identity.url));
    const redis = await startRedis();
    stops.push(() => redis.stop());
    links.redis.leadTo(portOf(redis.url));
    const s3 = withFileStore ? await startS3() : undefined;
    if (s3) {
      stops.push(() => s3.stop());
      links.files.leadTo(portOf(s3.endpoint));
    }
    const stack = await startStack({
      directory,
      from: 'bundle',
      postgresSettings: databaseSettings,
      publicUrls: {
        identity: `http://127.0.0.1:${links.identity.port}`,
        crm: proxies.crm.url,
      },
      async databaseOf(_service, url) {
        links.database.leadTo(portOf(url));
        return { DATABASE_URL: throughLink(url, links.database) };
      },
      environment: {
        ...limits,
        LOG_LEVEL: 'warn',
        REDIS_URL: throughLink(redis.url, links.redis),
        NODE_OPTIONS: `--import=${instruments}`,
      },
      environmentOf: { crm: fileStoreOf(s3, links.files) },
      onStep,
    });
    const database = databaseServer(stack.postgres);
    stops.push(
      () => database.stop(),
      () => stack.stop(),
    );
    const replicas = {
      identity: [stack.identity, await stack.addReplica('identity')],
      crm: [stack.crm, await stack.addReplica('crm')],
    };
    const balancers = {
      identity: startHealthChecks(proxies.identity),
      crm: startHealthChecks(proxies.crm),
    };
    stops.push(() => Promise.all([balancers.identity.stop(), balancers.crm.stop()]));
    for (const service of ['identity', 'crm'] as const) {
      for (const replica of replicas[service]) balancers[service].add(replica);
    }
    const ready = () => until(() => Object.values(balancers).every((one) => one.areAllUsed()));
    await ready();
    const events = await receiveEvents([`127.0.0.1:${stack.broker.port}`]);
    stops.push(() => events.stop());
    const memberOf = async (who: 'owner' | 'other_owner'): Promise<Member> => {
      const { user_id: userId, tenant_slug: tenant } = stack.system[who];
      return { tenant, userId, token: await signIn(stack, who) };
    };
    const members = [await memberOf('owner'), await memberOf('other_owner')];
    return {
      stack,
      database,
      redis,
      hasFileStore: withFileStore,
      links,
      replicas,
      balancers,
      events,
      target: { identity: proxies.identity.url, crm: proxies.crm.url, members },
      ready,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
