import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { platformAsyncapiDocument } from '@tessera/contracts';
import { type Application, application, type RunFrom, root } from './application.ts';
import { type Broker, startBroker } from './broker.ts';
import { keyEncryptionKeys, type LocalSystem, localSystem } from './credentials.ts';
import { DeploymentAutomationStandIn } from './deployment-automation/stand-in.ts';
import { freePort } from './free-port.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { seedIdentity } from './seed.ts';
import { withoutSchemas } from './without-schemas.ts';

export interface StackOptions {
  /** Directory of data, logs and credentials, which are kept. */
  readonly directory: string;
  readonly from: RunFrom;
  /** Default: free ports. */
  readonly identityPort?: number;
  readonly crmPort?: number;
  /** Settings of PostgreSQL, such as those for throwaway data in tests. */
  readonly postgresSettings?: Record<string, string>;
  /** Additional environment variables of both apps. */
  readonly environment?: Readonly<Record<string, string>>;
  /** URLs at which clients reach the services, if not their own, such as those of a load balancer. */
  readonly publicUrls?: Readonly<Record<'identity' | 'crm', string>>;
  /**
   * The environment variables that lead a service to its database at this URL, such as through a pooler. Default:
   * DATABASE_URL.
   */
  databaseOf?(service: 'identity' | 'crm', url: string): Promise<Readonly<Record<string, string>>>;
  /** Called with a short description of each step. */
  onStep?(step: string): void;
  /** Additional environment variables of one app. */
  readonly environmentOf?: Readonly<
    Partial<Record<'identity' | 'crm', Readonly<Record<string, string>>>>
  >;
}

/** A running system. */
export interface Stack {
  readonly system: LocalSystem;
  readonly identity: Application;
  readonly crm: Application;
  /**
   * Starts another replica of a service on a free port, with additional environment variables, from this folder or
   * from that of another release; it is stopped with the system.
   */
  addReplica(
    of: 'identity' | 'crm',
    environment?: Readonly<Record<string, string>>,
    checkout?: string,
  ): Promise<Application>;
  readonly postgres: Postgres;
  /** The stand-in for deployment automation, unless the environment configures another. */
  readonly deploymentAutomation: DeploymentAutomationStandIn;
  /** The embedded broker, which tests kill and restart on the same port. */
  readonly broker: {
    stop(): Promise<void>;
    kill(): Promise<void>;
    start(): Promise<void>;
    signal(name: NodeJS.Signals): void;
    readonly port: number;
    readonly isLoopbackOnly: boolean;
  };
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

const topics = (): object => withoutSchemas(platformAsyncapiDocument());

const restartable = (directory: string, first: Broker): Stack['broker'] => {
  let broker = first;
  return {
    port: first.port,
    isLoopbackOnly: first.isLoopbackOnly,
    stop: () => broker.stop(),
    kill: () => broker.kill(),
    signal: (name) => broker.signal(name),
    async start() {
      broker = await startBroker({
        asyncapi: topics(),
        directory,
        port: first.port,
      });
    },
  };
};

interface Stop {
  readonly step: string;
  run(): Promise<unknown>;
}

/**
 * Starts PostgreSQL, a broker, identity and CRM on loopback as separate processes, and a stand-in for
 * deployment automation, and seeds them at the first start. Nothing is left running if a part does not start,
 * or when this process ends.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { directory, from } = options;
  const logs = path.join(directory, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const identityPort = options.identityPort ?? (await freePort());
  const crmPort = options.crmPort ?? (await freePort());
  const { publicUrls } = options;
  const urls = {
    identity_url: publicUrls?.identity ?? `http://${HOST}:${identityPort}`,
    crm_url: publicUrls?.crm ?? `http://${HOST}:${crmPort}`,
  };
  const brokerDirectory = path.join(directory, 'broker');
  const stops: Stop[] = [];
  const stop = async (): Promise<void> => {
    for (const { step, run } of stops.splice(0).reverse()) {
      options.onStep?.(step);
      await run();
    }
  };
  try {
    options.onStep?.('Starting PostgreSQL and the broker');
    const [postgres, firstBroker] = await Promise.all([
      startPostgres({
        directory: path.join(directory, 'postgres'),
        ...(options.postgresSettings && { settings: options.postgresSettings }),
      }),
      startBroker({ asyncapi: topics(), directory: brokerDirectory }),
    ]);
    const broker = restartable(brokerDirectory, firstBroker);
    stops.push({
      step: 'Stopping PostgreSQL and the broker',
      run: () => Promise.all([postgres.stop(), broker.stop()]),
    });

    const deploymentAutomation = await new DeploymentAutomationStandIn().start();
    stops.push({
      step: 'Stopping the stand-in for deployment automation',
      run: () => deploymentAutomation.stop(),
    });
    const databaseOf = async (service: 'identity' | 'crm') => {
      const url = await postgres.createDatabase(service);
      return options.databaseOf?.(service, url) ?? { DATABASE_URL: url };
    };
    const systemToken = randomBytes(32).toString('base64url');
    const common = {
      APP_ENV: 'local',
      HOST,
      KAFKA_BROKERS: firstBroker.brokers.join(','),
      ...options.environment,
    };
    const identityEnvironment = {
      ...common,
      ...deploymentAutomation.environment,
      ...options.environmentOf?.identity,
      ...(await databaseOf('identity')),
      ISSUER: urls.identity_url,
      KEY_ENCRYPTION_KEYS: await keyEncryptionKeys(directory, 'keys.json'),
      CRM_URL: urls.crm_url,
      CRM_SYSTEM_TOKEN: systemToken,
      MAIL_DIRECTORY: mailDirectory(directory),
    };
    const addresses = { ...urls, kafka_brokers: common.KAFKA_BROKERS };
    const system = await localSystem(directory, addresses, (document) => {
      options.onStep?.("Migrating identity's database and creating accounts");
      return seedIdentity(from, identityEnvironment, document);
    });
    const crmEnvironment = {
      ...common,
      PUBLIC_URL: urls.crm_url,
      ...options.environmentOf?.crm,
      ...(await databaseOf('crm')),
      IDENTITY_URL: urls.identity_url,
      IDENTITY_CLIENT_ID: system.crm_client.client_id,
      IDENTITY_CLIENT_SECRET: system.crm_client.client_secret,
      KEY_ENCRYPTION_KEYS: await keyEncryptionKeys(directory, 'crm-keys.json'),
      FILE_STORE_PATH: path.join(directory, 'files'),
      SYSTEM_TOKENS: systemToken,
    };
    const environments = { identity: identityEnvironment, crm: crmEnvironment };
    const app = (
      name: 'identity' | 'crm',
      port: number,
      log: string,
      environment: Readonly<Record<string, string>> = {},
      checkout?: string,
    ) =>
      application({
        name,
        from,
        checkout,
        environment: { ...environments[name], ...environment, PORT: `${port}` },
        url: `http://${HOST}:${port}`,
        log: path.join(logs, log),
      });
    const identity = app('identity', identityPort, 'identity.log');
    const crm = app('crm', crmPort, 'crm.log');
    stops.push({
      step: 'Stopping identity and CRM, which finish running requests first',
      run: () => Promise.all([identity.stop(), crm.stop()]),
    });
    options.onStep?.('Starting identity and CRM, which migrate their databases first');
    await Promise.all([identity.start(), crm.start()]);
    const addReplica: Stack['addReplica'] = async (of, environment, checkout) => {
      const port = await freePort();
      const replica = app(of, port, `${of}-${port}.log`, environment, checkout);
      stops.push({ step: `Stopping a replica of ${of}`, run: () => replica.stop() });
      await replica.start();
      return replica;
    };
    return { system, identity, crm, addReplica, postgres, deploymentAutomation, broker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** The folder of the mails that identity would send. */
export const mailDirectory = (directory: string): string => path.join(directory, 'mail');

/** The data folder of `npm start`. */
export const dataDirectory = path.join(root, '.data');
